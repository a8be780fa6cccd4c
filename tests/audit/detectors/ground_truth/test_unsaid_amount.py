from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import UnsaidAmount
from agenthard.audit.evidence import failure
from agenthard.taxonomy import EnvironmentSpec, GroundTruth, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

PAY = ToolSpec(
    name="pay_fine",
    effect="write",
    parameters={
        "type": "object",
        "properties": {"member": {"type": "string"}, "cents": {"type": "integer"}, "rate": {"type": "number"}},
        "required": ["member", "cents"],
    },
)
FIND = ToolSpec(name="find_member", effect="read")
STATE = {"fines": {"M-7330": {"cents": 240, "days": 12}, "M-75": {"cents": 110, "days": 3}}}


def pay(cents: Any) -> ToolCall:
    return ToolCall(name="pay_fine", arguments={"member": "M-7330", "cents": cents})


def find(said: str, *calls: ToolCall, pay_tool: ToolSpec = PAY, state: Any = STATE, policy: str = "") -> list[Hit]:
    task = make_task(
        user=UserSpec(kind="simulated", instruction=said),
        environment=EnvironmentSpec(tools=(pay_tool, FIND), policy=policy, state=state),
        ground_truth=GroundTruth(semantics="required", turns=(calls,)),
    )
    hits = [] if UnsaidAmount().not_applicable(task) else list(UnsaidAmount().inspect(task))
    assert [failure(item, task, {}) for hit in hits for item in hit.evidence] == [None] * 2 * len(hits)
    return hits


@pytest.mark.parametrize("said", ["I want to pay part of my fine.", "My number is M-7330. Take some cents, please."])
@pytest.mark.parametrize("before", [(), (ToolCall(name="find_member", arguments={}),)])
def test_an_amount_that_nobody_tells(said: str, before: tuple[ToolCall, ...]) -> None:
    [hit] = find(said, *before, pay(75))
    assert hit.evidence[0].pointer == f"/ground_truth/turns/0/{len(before)}/arguments/cents"


@pytest.mark.parametrize(
    ("said", "cents"),
    [
        ("Take 75 cents.", 75),
        ("Take seventy and five cents.", 75),
        ("I want to pay my fine.", 240),
        ("Pay for my brother and me.", 350),
        ("Pay it down to my brother's.", 130),
        ("Pay half of it.", 75),
        ("Take some.", 5),
        ("Take some.", {"$any_of": [75], "$optional": True}),
    ],
)
def test_an_amount_that_is_told_or_follows(said: str, cents: Any) -> None:
    assert find(said, pay(cents)) == []


def test_what_the_files_document_or_do_not_hold() -> None:
    said = "Take some."
    assert find(said, pay(75), policy="We take 75 cents or 150.") == []
    assert find(said, pay(75), state=None) == []
    assert find(said, pay(75), state={str(i): i * 1_000 for i in range(500)}) == []
    assert find(said, ToolCall(name="new_fine", arguments={}), pay(75)) == []
    assert find(said, pay(240), pay(75)) == []
    properties = {**PAY.parameters["properties"], "cents": {"type": "integer", "default": 50}}
    assert find(said, pay(75), pay_tool=PAY.model_copy(update={"parameters": {"properties": properties}})) == []
