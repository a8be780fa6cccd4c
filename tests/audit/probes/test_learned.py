import numpy as np

from agenthard.audit.probes import run_battery
from agenthard.audit.probes.attributes import summary_probes
from agenthard.audit.probes.learned import learned_probes
from agenthard.audit.probes.likeness import likeness_probes
from agenthard.audit.probes.measure import measure
from agenthard.audit.probes.order import id_probes, pool_probes
from agenthard.audit.probes.table import Table
from tests.audit.probes.benchmark import answer, scenes, tasks


def test_two_traits_that_tell_only_together_are_learned() -> None:
    made = tasks(number=150)
    rng = np.random.default_rng(0)
    for task in made:
        for choice in task["sets"]:
            right = answer(choice)
            for candidate in choice["candidates"]:
                # Right: dear and heavy, or cheap and light. Wrong: one without the other. Each alone is a coin toss.
                dear = bool(rng.integers(2))
                heavy = dear if candidate is right else not dear
                candidate["price"] = int(rng.integers(60, 100) if dear else rng.integers(10, 50))
                candidate["weight"] = int(rng.integers(30, 50) if heavy else rng.integers(1, 20))
    report = run_battery(scenes(made))
    best = {r.id: r for r in report.results}["learned:all traits:boosted trees"]
    assert best.verdict == "gives away" and best.rate > 0.8
    assert not any(r.found for r in report.results if r.trait in ("price", "weight"))
    assert "learned from all traits" in [s.trait for s in report.give_aways()]


def test_a_favourite_place_is_learned() -> None:
    made = tasks()
    for task in made:
        for choice in task["sets"]:
            others = [c for c in choice["candidates"] if c["id"] != choice["truth"]]
            choice["candidates"] = [others[0], answer(choice), *others[1:]]
    report = run_battery(scenes(made))
    [found] = [s for s in report.give_aways() if s.trait.startswith("learned")]
    assert found.trait == "learned from order" and found.best.rate == 1.0


def test_a_task_is_never_guessed_by_what_was_learned_from_it() -> None:
    # Answers are drawn at random; a classifier that saw them would do better than chance on raw ids and numbers.
    table = Table.build(scenes(tasks(number=80, candidates=3)))
    places, shapes = [*id_probes(table), *pool_probes(table)], [*summary_probes(table), *likeness_probes(table)]
    for probe in learned_probes(table, places, shapes, np.random.default_rng(0)):
        found = measure(table, probe.score)
        assert found is not None and found.p > 0.001


def test_a_few_tasks_are_not_enough_to_learn() -> None:
    table = Table.build(scenes(tasks(number=9)))
    assert list(learned_probes(table, [], [], np.random.default_rng(0))) == []
