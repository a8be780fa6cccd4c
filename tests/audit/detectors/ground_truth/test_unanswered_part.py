"""Members of lists and numbers of a request that no gold call gives."""

from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import UnansweredPart
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

PROPERTIES = {
    "kind": {"type": "string"},
    "place": {"type": "string"},
    "words": {"type": "array", "items": {"type": "string"}},
    "amount": {"type": "number"},
    "rate": {"type": "number"},
}
TOOL = ToolSpec(name="find", parameters={"type": "object", "properties": PROPERTIES})


def task(said: str, *calls: dict[str, Any], **changes: Any) -> AgentTask:
    turn = tuple(ToolCall(name="find", arguments=arguments) for arguments in calls)
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(TOOL,)),
        ground_truth=GroundTruth(semantics="required", turns=(turn,)),
        **changes,
    )


def hits(said: str, *calls: dict[str, Any]) -> list[Hit]:
    subject, check = task(said, *calls), UnansweredPart()
    assert check.not_applicable(subject) is None
    found = list(check.inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


@pytest.mark.parametrize(
    ("said", "calls", "missing"),
    [
        ("the best Italian and Chinese restaurants", [{"kind": "Italian"}], "Chinese"),
        ("books about 'rare birds' and 'wild cats'", [{"kind": "wild cats"}], "rare birds"),
        ("the weather in Oslo, Bergen and Rome", [{"place": "Oslo"}, {"place": "Rome"}], "Bergen"),
        ("My interests are technology and science.", [{"words": ["technology"]}], "science"),
        ("成员有John和Mary。", [{"words": ["Mary"]}], "John"),
        ("比较平安保险、人寿保险和太平洋险。", [{"words": ["平安保险", "人寿保险"]}], "太平洋险"),
        ("5% of $1000, then 7% of $2500", [{"rate": 5, "amount": 1000}], "7% of $2500"),
    ],
)
def test_flagged(said: str, calls: list[dict[str, Any]], missing: str) -> None:
    found = hits(said, *calls)
    assert any(missing in hit.evidence[-1].quote for hit in found)


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("the best Italian and Chinese restaurants", [{"kind": "Italian"}, {"kind": "Chinese"}]),
        ("the museum in Oslo and the Louvre in Paris", [{"place": "Oslo"}, {"place": "Paris"}]),
        ("stocks on NASDAQ and Microsoft Corporation", [{"place": "NASDAQ"}]),
        ("from Oslo to Bergen and Please hurry", [{"place": "Bergen"}]),
        ("5% of $1000, then 7% of $2500", [{"rate": 5, "amount": 1000}, {"rate": 7, "amount": 2500}]),
        ("5% of $1000 for 3 friends and 2 dogs", [{"rate": 5, "amount": 1000}]),
    ],
)
def test_not_flagged(said: str, calls: list[dict[str, Any]]) -> None:
    assert not hits(said, *calls)


def test_only_requests_with_nothing_to_look_up() -> None:
    why = UnansweredPart().not_applicable(task("Italian and Chinese", {"kind": "Italian"}, initial_state={"a": 1}))
    assert why == "its calls may follow from what can be looked up"
