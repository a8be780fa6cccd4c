"""Trials, success against turns, people, and the fewest turns."""

from typing import Any

from agenthard.escape.evaluation import EscapeConditions, EscapeTask
from agenthard.escape.paper import against_turns, people, trials, turn_steps
from agenthard.play.ending import Ending
from tests.escape.made import play, rooms, started


def row(agent: str, passed: bool | None, **more: Any) -> dict[str, Any]:
    return {"agent": agent, "task_id": "r", "trial": 0, "nodes": 5, "turns": 7, "passed": passed, **more}


def test_no_agent_needs_fewer_turns_than_the_fewest_and_one_needs_just_these() -> None:
    least = [instance.min_turns() for instance in rooms()]
    taken = [play("oracle", instance, calls_per_turn=10_000).usage["turns"] for instance in rooms()]
    assert all(turns >= fewest for turns, fewest in zip(taken, least, strict=True))
    assert any(turns == fewest for turns, fewest in zip(taken, least, strict=True))


def test_all_of_k_trials() -> None:
    rows = [row("a", passed, trial=trial) for trial, passed in enumerate((True, False))]
    rows += [row("a", True, task_id="s", trial=trial) for trial in (0, 1)] + [row("a", None, task_id="x")]
    first, second = trials(rows)
    assert first[:4] == ("a", 5, 1, 75.0) and second[:4] == ("a", 5, 2, 50.0) and second[6:] == (2, 2)


def test_success_against_turns_comes_from_one_run() -> None:
    rows = [row("a", True, turns=3), row("a", True, turns=20), row("a", False, turns=2)]
    (found,) = against_turns(rows)
    assert found[:4] == ("a", 5, 3, 35)
    assert [round(share) for share in found[4:]] == [33, 33, 33, 67, 67]
    assert [step[2:5] for step in turn_steps(rows)] == [(3, 1, 3), (20, 2, 3)]


def test_people_are_rows_like_agents() -> None:
    instance = rooms()[0]
    run = play("story", instance).model_copy(update={"model": "person"})
    facts = EscapeTask(instance.id, instance, EscapeConditions(), 0).facts
    rows, unknown = people([run, run.model_copy(update={"task_id": "other"})], {instance.id: facts})
    assert unknown == ["other"] and rows[0]["agent"] == "person" and rows[0]["passed"] is True
    assert rows[0]["min_turns"] == facts["min_turns"] and rows[0]["resolved"] == rows[0]["parts"]


def test_uses_of_parts_that_were_never_resolved_are_counted() -> None:
    instance, first = next(
        (instance, part)
        for instance in rooms()
        for part in instance.room.parts
        if part.kind == "tool" and not instance.feeds(part.id) and part.id in instance.room.visible
    )
    environment = started(instance)
    for _ in range(2):
        environment.call("use_tool", {"node_id": first.id, "params": {}})
    counts = environment.outcome(Ending.OPEN)[1]
    assert (counts["first_parts_open_calls"], counts["first_parts_calls"]) == (2, 0)
