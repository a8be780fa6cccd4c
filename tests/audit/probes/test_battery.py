from collections.abc import Callable
from typing import Any

import pytest

from agenthard.audit.probes import run_battery
from tests.audit.probes.benchmark import FRUITS, answer, fair, scenes, tasks

Choice = dict[str, Any]
Task = dict[str, Any]


def first(task: Task, choice: Choice) -> None:
    choice["candidates"].sort(key=lambda c: c["id"] != choice["truth"])


def in_the_middle(task: Task, choice: Choice) -> None:
    others = [c for c in choice["candidates"] if c["id"] != choice["truth"]]
    choice["candidates"] = [*others[:2], answer(choice), *others[2:]]


def out_of_order(task: Task, choice: Choice) -> None:
    right = answer(choice)
    others = sorted((c for c in choice["candidates"] if c is not right), key=lambda c: c["id"])
    others.insert(0 if right["id"] > others[1]["id"] else 4, right)
    choice["candidates"] = others


def lowest_id(task: Task, choice: Choice) -> None:
    ids = sorted(c["id"] for c in choice["candidates"])
    answer(choice)["id"] = choice["truth"] = ids[0][:1] + f"{int(ids[0][1:]) - 1:04d}"


def early_in_the_pool(task: Task, choice: Choice) -> None:
    task["pool"].sort(key=lambda id: id != choice["truth"])


def cheapest(task: Task, choice: Choice) -> None:
    answer(choice)["price"] = min(c["price"] for c in choice["candidates"]) - 1


def out_of_range(task: Task, choice: Choice) -> None:
    wrong = next(c for c in choice["candidates"] if c["id"] != choice["truth"])
    wrong["price"] = 5 if wrong["weight"] % 2 else 140


def contradictory(task: Task, choice: Choice) -> None:
    wrong = next(c for c in choice["candidates"] if c["id"] != choice["truth"])
    wrong["fruit"] = FRUITS[(FRUITS.index(wrong["fruit"]) + 1) % 4]


def low_number_in_the_name(task: Task, choice: Choice) -> None:
    right = answer(choice)
    right["name"] = right["name"].rsplit(" ", 1)[0] + " 99"


def unlike_the_others(task: Task, choice: Choice) -> None:
    for wrong in choice["candidates"]:
        if wrong["id"] != choice["truth"]:
            wrong["price"], wrong["weight"] = 50 + wrong["price"] % 4, 20 + wrong["weight"] % 4


def copied(task: Task, choice: Choice) -> None:
    first_wrong, second = [c for c in choice["candidates"] if c["id"] != choice["truth"]][:2]
    second.update({key: value for key, value in first_wrong.items() if key != "id"})


def mentioned(task: Task, choice: Choice) -> None:
    task["text"] = f"{task.get('text', '')} Consider {choice['truth']}."


def rare_fruit(task: Task, choice: Choice) -> None:
    for candidate in choice["candidates"]:
        candidate["fruit"] = "melon" if candidate["id"] == choice["truth"] else "plum"


@pytest.mark.parametrize(
    ("plant", "trait"),
    [
        (first, "order"),
        (in_the_middle, "order"),
        (out_of_order, "order"),
        (lowest_id, "ids"),
        (early_in_the_pool, "pool order"),
        (cheapest, "price"),
        (out_of_range, "range"),
        (contradictory, "consistency"),
        (low_number_in_the_name, "name"),
        (unlike_the_others, "likeness"),
        (copied, "duplicates"),
        (mentioned, "mention"),
        (rare_fruit, "fruit"),
    ],
)
def test_a_planted_give_away_is_found(plant: Callable[[Task, Choice], None], trait: str) -> None:
    made = tasks()
    for task in made:
        for choice in task["sets"]:
            plant(task, choice)
    found = {shortcut.trait: shortcut.best for shortcut in run_battery(scenes(made)).give_aways()}
    assert trait in found
    assert found[trait].rate > found[trait].chance or plant is contradictory
    assert set(found[trait].tasks) <= {f"task {index}" for index in range(60)}


@pytest.mark.parametrize("rules", [False, True])
def test_a_fair_benchmark_has_none(rules: bool) -> None:
    for seed in (1, 7):
        report = fair(seed, rules=rules)
        assert report.give_aways() == []
        outside, judged = report.missed_by_luck()
        assert judged > 80 and outside / judged < 0.15


def test_what_the_rules_exclude_is_no_give_away() -> None:
    report = fair(7, rules=True)
    assert report.chance_all == pytest.approx(1 / 5)
    assert report.chance_survivors == pytest.approx(1 / 3)
    assert (report.choices, report.contested, report.truth_breaks_rules) == (180, 180, 0)
    # The answer meets a limit on the weight that two of four others break, so low weights would beat chance.
    weights = [result for result in report.results if result.trait == "weight"]
    assert {result.scope for result in weights} == {"survivors"}


def test_among_survivors_a_shortcut_shows_that_the_others_hide() -> None:
    made = tasks(rules=True)
    for task in made:
        for choice in task["sets"]:
            allowed = [c for c in choice["candidates"] if c["weight"] <= 25]
            answer(choice)["price"] = max(c["price"] for c in allowed) + 1
            for wrong in choice["candidates"]:
                if wrong["weight"] > 25:
                    wrong["price"] = 150
    results = {(r.id, r.scope): r for r in run_battery(scenes(made)).results}
    assert results["price:highest", "survivors"].rate == 1.0
    assert results["price:highest", "survivors"].verdict == "gives away"
    assert results["price:highest", "all"].rate == 0.0


def test_a_shuffle_that_repeats_itself_is_found_where_rules_settle_a_choice() -> None:
    made = tasks(candidates=6, choices=4, rules=True)
    for index, task in enumerate(made):
        place = index % 6
        for number, choice in enumerate(task["sets"]):
            right = answer(choice)
            others = [c for c in choice["candidates"] if c is not right]
            choice["candidates"] = [*others[:place], right, *others[place:]]
            if number == 0:
                for wrong in others:
                    wrong["weight"] = 40
    results = {(r.id, r.scope): r for r in run_battery(scenes(made)).results}
    settled = results["order:settled", "survivors"]
    assert settled.rate == 1.0 and settled.verdict == "gives away"
    assert results["order:first", "survivors"].verdict == "at chance"


def test_an_answer_on_the_limit_is_found() -> None:
    made = tasks(rules=True)
    for task in made:
        for choice in task["sets"]:
            answer(choice)["weight"] = 25
    assert "limits" in {shortcut.trait for shortcut in run_battery(scenes(made)).give_aways()}


def test_a_shown_item_that_is_offered_again_is_found() -> None:
    made = tasks()
    for task in made:
        for choice, shown in zip(task["sets"], task["shown"], strict=False):
            index = next(i for i, c in enumerate(choice["candidates"]) if c["id"] != choice["truth"])
            choice["candidates"][index] = shown
    results = {r.id: r for r in run_battery(scenes(made)).results}
    assert results["duplicate:shown"].rate == 1.0 and results["duplicate:shown"].verdict == "gives away"


def test_look_ahead_is_measured_by_group_and_is_no_shortcut() -> None:
    made = tasks(rules=True)
    for index, task in enumerate(made):
        task["group"] = f"B = {2 if index < 30 else 10}"
        for choice in task["sets"]:
            best = index < 30
            choice["look_ahead"] = {"mean": [float((c["id"] == choice["truth"]) == best) for c in choice["candidates"]]}
    report = run_battery(scenes(made))
    assert report.give_aways() == []
    # In the second half the two rivals that meet the rules tie before the answer.
    assert [(row.group, row.n, row.accuracy) for row in report.look_ahead] == [
        ("", 180, 0.5),
        ("B = 2", 90, 1.0),
        ("B = 10", 90, 0.0),
    ]
    assert report.look_ahead[0].guess == pytest.approx(1 / 3)


def test_the_same_input_and_seed_give_the_same_report() -> None:
    made = tasks(number=20)
    one, other = run_battery(scenes(made), seed=3), run_battery(scenes(made), seed=3)
    assert one.model_dump_json() == other.model_dump_json()


def test_an_answer_that_breaks_its_own_rules_is_counted_and_left_out() -> None:
    made = tasks(rules=True)
    answer(made[0]["sets"][0])["weight"] = 49
    report = run_battery(scenes(made))
    assert (report.truth_breaks_rules, report.contested) == (1, 179)


def test_without_choices_there_is_nothing_to_report() -> None:
    report = run_battery(scenes([{"sets": []}]))
    assert (report.choices, report.results, report.give_aways()) == (0, (), [])


def test_hostile_values_are_words_or_nothing() -> None:
    made = tasks(number=12)
    strange = [None, True, {"a": [1]}, "x" * 5000, 10**400, float("nan"), "", "∞ 12٣"]
    for task in made:
        for choice in task["sets"]:
            for index, candidate in enumerate(choice["candidates"]):
                candidate["odd"] = strange[(index + len(candidate["name"])) % len(strange)]
                candidate["mixed"] = index if index % 2 else str(index)
    assert run_battery(scenes(made)).choices == 36
