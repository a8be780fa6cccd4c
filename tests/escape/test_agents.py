"""Agents of known skill: who gets out, and which diagnostic each weakness moves."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agenthard.escape.agents import LEADERBOARD, find, reader
from agenthard.escape.diagnostics import Diagnosis, diagnose, drops
from agenthard.escape.evaluation import EscapeConditions, EscapeTask
from agenthard.escape.generator import Parameters, generate
from agenthard.play.registry import UnknownAgentError
from tests.escape.made import play, rooms


def diagnosed(agent: str) -> list[Diagnosis]:
    rows = []
    for instance in rooms():
        task = EscapeTask(instance.id, instance, EscapeConditions(), 42)
        run = task.play(agent, "", 0.0, 0)
        rows.append({"agent": agent, "passed": run.passed, **task.facts, **run.usage})
    return diagnose(rows)


def test_the_oracle_needs_the_fewest_calls_and_the_submission() -> None:
    for instance in rooms():
        run = play("oracle", instance)
        assert run.passed and run.ending == "done" and instance.certificate
        assert run.usage["calls"] == instance.certificate.min_calls + 1


def test_who_has_the_key_of_the_hints_gets_out_without_feedback() -> None:
    assert all(play("hints", instance, feedback="none").passed for instance in rooms())


def test_who_reads_no_hint_needs_more_calls_and_who_guesses_stays_inside() -> None:
    large = [instance for instance in rooms() if instance.room.nodes == 15][:3]
    for instance in large:
        assert play("greedy", instance).usage["calls"] > 2 * play("hints", instance).usage["calls"]
        assert not play("random", instance).passed
        assert not play("greedy", instance, feedback="none").passed


@pytest.mark.long
def test_searching_is_weaker_than_reading_and_reading_than_knowing() -> None:
    suite = list(generate(Parameters(sizes=(5, 10, 20), rooms=(60, 60, 12))))
    for nodes in (5, 10, 20):
        some = [instance for instance in suite if instance.room.nodes == nodes]
        oracle, story, greedy = (
            sum(bool(play(a, each).passed) for each in some) for a in ("oracle", "story", "greedy")
        )
        assert greedy < story < oracle == len(some)
        assert not any(play("answer-only", instance).passed for instance in some)
        if nodes >= 10:
            assert sum(bool(play("random", instance).passed) for instance in some) <= 1


def test_the_story_reader_knows_no_sign_and_no_sentence_of_the_generator() -> None:
    source = Path(reader.__file__).read_text(encoding="utf-8")
    assert "narrative" not in source and "hints_in" not in source and "secret" not in source
    told = rooms()[0].room
    strange = {part.id: part.detail.replace("`", "") for part in told.parts}
    bare = replace(
        rooms()[0], room=replace(told, parts=tuple(replace(part, detail=strange[part.id]) for part in told.parts))
    )
    assert play("hints", bare).passed is False
    assert play("story", bare).usage["resolved"] > 0


@pytest.mark.parametrize("agent", LEADERBOARD)
def test_every_agent_of_the_leaderboard_plays_the_same_again(agent: str) -> None:
    instance = rooms()[0]
    assert play(agent, instance) == play(agent, instance)
    assert play(agent, instance).messages[0].role == "system"


@pytest.mark.parametrize(
    ("knob", "error"),
    [
        ("omit", "missing_required"),
        ("wrong-type", "wrong_type"),
        ("invented", "node_not_exist"),
        ("malformed", "wrong_format"),
        ("repeat", "repeated_solved"),
        ("wrong-wire", "other"),
        ("premature", "other"),
    ],
)
def test_each_weakness_moves_its_own_class_of_errors(knob: str, error: str) -> None:
    for each in diagnosed(f"oracle+{knob}:0.4"):
        assert max(each.errors, key=lambda name: each.errors[name]) == error
        assert sum(count for name, count in each.errors.items() if name != error) == 0


def test_premature_use_moves_the_premature_share_alone() -> None:
    assert all(each.premature == 0 for each in diagnosed("oracle+wrong-wire:0.4"))
    assert all(each.premature and each.premature > 0.1 for each in diagnosed("oracle+premature:0.4"))


def test_stubborn_errors_cost_more_in_larger_rooms() -> None:
    found = diagnosed("oracle+wrong-wire:0.2+stubborn:0.4")
    assert found[0].success and found[-1].success is not None
    assert found[0].success > found[-1].success
    (drop,) = drops(found)
    assert (drop.easiest, drop.hardest, drop.difference > 0) == (5, 15, True)


def test_what_is_undefined_stays_undefined() -> None:
    (only,) = diagnose([dict.fromkeys(_names(), 0) | {"agent": "a", "nodes": 5, "passed": False, "parts": 5}])
    assert (only.discovery, only.premature, only.adherence, only.convergence, only.effort) == (None,) * 5
    assert drops([only]) == []


def _names() -> list[str]:
    instance = rooms()[0]
    return [*EscapeTask("", instance, EscapeConditions(), 0).facts, *play("oracle", instance).usage]


def test_unknown_agents_are_refused_with_what_there_is() -> None:
    for name in ("nobody", "greedy+omit:0.1", "oracle+omit:2", "oracle+what:0.1"):
        with pytest.raises(UnknownAgentError):
            find(name)


def test_calls_that_fail_for_no_fault_are_repeated() -> None:
    instance = rooms()[0]
    task = EscapeTask(instance.id, instance, EscapeConditions(turns=-1), 42)
    run = task.play("oracle", "", 0.3, 0)
    assert run.passed and run.usage["failed_calls"] > 0


def test_the_record_holds_what_was_asked_and_answered() -> None:
    run = play("story", rooms()[0])
    asked = [call.id for message in run.messages for call in message.tool_calls]
    answered = [message.tool_call_id for message in run.messages if message.role == "tool"]
    assert asked == answered and len(set(asked)) == len(asked)
    assert json.loads(run.messages[-1].content)["ok"] is True
