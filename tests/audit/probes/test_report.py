import json
from typing import Any

import pytest

from agenthard.audit.probes import ProbeReport, ProbeResult, render, run_battery
from tests.audit.probes.benchmark import answer, fair, scenes, tasks


def result(**changes: Any) -> ProbeResult:
    values: dict[str, Any] = {
        "id": "price:lowest",
        "family": "attributes",
        "trait": "price",
        "scope": "survivors",
        "says": "has the lowest price",
        "choices": 500,
        "n": 410,
        "hits": 250,
        "rate": 250 / 410,
        "low": 0.56,
        "high": 0.66,
        "chance": 0.31,
        "p": 1e-30,
        "p_holm": 1e-28,
        "accuracy": 0.5,
        "guess": 0.3,
    }
    return ProbeResult(**{**values, **changes})


def report(*results: ProbeResult) -> ProbeReport:
    return ProbeReport(
        scenes=20,
        choices=500,
        contested=410,
        chance_all=0.04,
        chance_survivors=0.31,
        truth_breaks_rules=0,
        seed=0,
        results=results,
        look_ahead=(),
    )


def test_the_sentence_can_be_read_alone() -> None:
    assert result().sentence == (
        "Among the candidates that meet the rules of their choice, the answer has the lowest price in 61 % of 410 "
        "choices (of 500) in which candidates differ there (95 % interval 56 % to 66 %); chance 31 %."
    )
    assert result(choices=410, scope="all", detail="rarely").sentence == (
        "Over all candidates, the answer has the lowest price in 61 % of 410 choices "
        "(95 % interval 56 % to 66 %); chance 31 % (rarely)."
    )


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "gives away"),
        ({"rate": 0.1, "low": 0.05, "high": 0.2}, "is avoided"),
        ({"p_holm": 0.06}, "at chance"),
        ({"low": 0.3}, "at chance"),
        ({"n": 9}, "too few"),
    ],
)
def test_the_verdict_needs_both_the_test_and_the_interval(changes: dict[str, Any], verdict: str) -> None:
    assert result(**changes).verdict == verdict


def test_one_shortcut_per_trait_led_by_what_tells_of_the_answer() -> None:
    avoided = result(id="price:highest", rate=0.01, low=0.0, high=0.02, p=0.0)
    weight = result(id="weight:lowest", trait="weight", p=1e-40)
    found = report(avoided, result(), weight).give_aways()
    assert [(s.trait, s.best.id, s.agreeing) for s in found] == [
        ("weight", "weight:lowest", 0),
        ("price", "price:lowest", 1),
    ]


def test_shortcuts_are_ranked_by_how_much_they_tell() -> None:
    sure = result(trait="name", n=500, hits=500, rate=1.0, low=0.99, high=1.0, accuracy=1.0, p=1e-9)
    small = result(
        trait="rating", n=500, rate=0.11, low=0.08, high=0.14, chance=0.21, accuracy=0.11, guess=0.21, p=1e-99
    )
    found = report(small, result(), sure).give_aways()
    assert [(shortcut.trait, shortcut.grade) for shortcut in found] == [
        ("name", "certain"),
        ("price", "strong"),
        ("rating", "note"),
    ]
    assert found[0].effect == 1 and 0 < found[2].effect < 0.15
    assert "1 with a small effect are notes" in render(report(small, result(), sure))


def test_a_learned_probe_counts_only_for_what_no_simple_probe_shows() -> None:
    learned = result(id="learned:attributes:trees", family="learned", trait="attributes")
    together = result(id="learned:all traits:trees", family="learned", trait="all traits")
    order = result(id="order:first", family="order", trait="order")
    assert [s.trait for s in report(result(accuracy=0.57), learned, together).give_aways()] == ["price"]
    assert {s.trait for s in report(result(), learned).give_aways()} == {"price", "learned from attributes"}
    assert [s.trait for s in report(order, learned).give_aways()] == ["learned from attributes", "order"]
    better = result(id="learned:all traits:trees", family="learned", trait="all traits", low=0.9, high=0.99)
    assert len(report(learned.model_copy(update={"accuracy": 0.6}), together).give_aways()) == 1
    assert len(report(learned.model_copy(update={"accuracy": 0.6}), better).give_aways()) == 2


def test_text_and_json_name_the_shortcut() -> None:
    made = tasks()
    for task in made:
        for choice in task["sets"]:
            answer(choice)["price"] = 5
    found = run_battery(scenes(made))
    text = render(found)
    assert "60 tasks, 180 choices; a candidate taken at random is the answer in 20 %." in text
    assert "- certain, price: Over all candidates, the answer has the lowest price in 100 % of 180 choices" in text
    assert "has the highest weight" not in text and "has the highest weight" in render(found, every=True)
    data = json.loads(found.model_dump_json())
    best = next(entry for entry in data["results"] if entry["id"] == "price:lowest")
    assert best["verdict"] == "gives away" and best["hits"] == 180 and "tasks" not in best
    assert ProbeReport.model_validate({**data, "results": []}).choices == 180


def test_the_text_of_a_fair_benchmark_says_so() -> None:
    text = render(fair(7, rules=True))
    assert "No trait gives answers away" in text and "by luck alone" in text
    assert "In 180 choices the stated rules leave a rival" in text
