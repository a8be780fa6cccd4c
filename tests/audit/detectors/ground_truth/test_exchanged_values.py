from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import ExchangedValues
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}
TOOL = ToolSpec(
    name="add",
    parameters={
        "type": "object",
        "properties": {
            "colour": _TEXT,
            "count": _NUMBER,
            "systolic": _NUMBER,
            "diastolic": _NUMBER,
            "first_id": _TEXT,
            "second_id": _TEXT,
            "high": {"type": "number", "description": "收缩压，单位mmHg"},
            "low": {"type": "number", "description": "舒张压，单位mmHg"},
        },
    },
)


def hits(said: str, *calls: dict[str, Any]) -> list[Hit]:
    gold = tuple(ToolCall(name="add", arguments=arguments) for arguments in calls)
    subject: AgentTask = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(TOOL,)),
        ground_truth=GroundTruth(semantics="required", turns=(gold,), call_matching="exact"),
    )
    found = list(ExchangedValues().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def test_two_calls() -> None:
    [hit] = hits("Add 12 red and 30 blue ones.", {"colour": "red", "count": 30}, {"colour": "blue", "count": 12})
    assert hit.claim == (
        "The gold calls of 'add' give 'colour' as 'red' with 'count' as 30 and 'colour' as 'blue' with 'count' as 12; "
        "the user says them in another order."
    )


def test_objects_of_a_list() -> None:
    items = [{"colour": "red", "count": 30}, {"colour": "blue", "count": 12}]
    assert hits("Add 12 red and 30 blue ones.", {"items": items})


def test_names_beside_the_values() -> None:
    [hit] = hits("The pressure is systolic 120, diastolic 80.", {"systolic": 80, "diastolic": 120})
    assert hit.claim == (
        "The gold call of 'add' gives 'systolic' as 80 and 'diastolic' as 120; by their names, 'systolic' and "
        "'diastolic' it is the other way round."
    )


def test_names_in_a_chinese_description() -> None:
    assert hits("收缩压120，舒张压80。", {"high": 80, "low": 120})


def test_ranks() -> None:
    assert hits("Compare B7 with A3.", {"first_id": "A3", "second_id": "B7"})


def test_a_value_twice() -> None:
    said = "Add a red book and add a blue book."
    [hit] = hits(said, {"colour": "red"}, {"colour": "red"})
    assert "the user says it once, and 'blue' between the same words, which nothing uses." in hit.claim
    assert not hits(said, {"colour": "red"}, {"colour": "blue"})
    assert not hits("Add a red book and the same book again.", {"colour": "red"}, {"colour": "red"})


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("Add 12 red and 30 blue ones.", [{"colour": "red", "count": 12}, {"colour": "blue", "count": 30}]),
        ("Red and blue: add 12 and 30.", [{"colour": "blue", "count": 30}, {"colour": "red", "count": 12}]),
        ("Red and blue; blue 30 and red 12.", [{"colour": "red", "count": 12}, {"colour": "blue", "count": 30}]),
        ("The pressure is systolic 120, diastolic 80.", [{"systolic": 120, "diastolic": 80}]),
        ("120 systolic, 80 diastolic.", [{"systolic": 120, "diastolic": 80}]),
        ("Compare B7 with A3.", [{"first_id": "B7", "second_id": "A3"}]),
        ("Add red ones: 12 and 30.", [{"colour": "red", "count": 30}, {"colour": "red", "count": 12}]),
    ],
)
def test_innocent(said: str, calls: list[dict[str, Any]]) -> None:
    assert not hits(said, *calls)


def test_each_with_each() -> None:
    pairs = [("red", 30), ("blue", 12), ("red", 12), ("blue", 30)]
    assert not hits("Add red and blue ones, 12 and 30.", *({"colour": c, "count": n} for c, n in pairs))
