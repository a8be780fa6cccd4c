"""Values that the user states and that a run may leave out, although the default is another."""

from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.evaluation import OmissibleValue
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

PROPERTIES = {
    "time": {"type": "string", "description": "Preferred time. Default is 'morning'."},
    "seats": {"type": "integer", "default": 2},
    "place": {"type": "string", "description": "Where. Defaults to all."},
    "unit": {"type": "string", "description": "The unit, default is km"},
}
TOOL = ToolSpec(name="book", parameters={"type": "object", "properties": PROPERTIES})


def task(said: str, **arguments: Any) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(TOOL,)),
        ground_truth=GroundTruth(semantics="required", turns=((ToolCall(name="book", arguments=arguments),),)),
    )


def hits(said: str, **arguments: Any) -> list[Hit]:
    subject, check = task(said, **arguments), OmissibleValue()
    assert check.not_applicable(subject) is None
    found = list(check.inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


@pytest.mark.parametrize(
    ("said", "name", "value", "default"),
    [
        ("Book it for the afternoon.", "time", "afternoon", "'morning'"),
        ("Book 5 seats.", "seats", 5, "'2'"),
        ("How far, in miles?", "unit", "miles", "'km'"),
    ],
)
def test_flagged(said: str, name: str, value: Any, default: str) -> None:
    (hit,) = hits(said, **{name: any_of([value], optional=True)})
    assert f"which means {default}" in hit.claim


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("Book it for the morning.", "time", "morning"),
        ("Book it early.", "time", "afternoon"),
        ("Book 2 seats.", "seats", 2),
        ("Book it in Oslo.", "place", "Oslo"),
    ],
)
def test_not_flagged(said: str, name: str, value: Any) -> None:
    assert not hits(said, **{name: any_of([value], optional=True)})


def test_nothing_may_be_left_out() -> None:
    assert OmissibleValue().not_applicable(task("Hi", time="afternoon")) == (
        "the ground truth lets no argument be left out"
    )
