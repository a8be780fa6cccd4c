"""What gold calls pass on, against what the replayed calls before returned."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agenthard.audit.detectors.ground_truth import MiscopiedResult
from agenthard.audit.execution.environment import ToolResponse
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, ToolCall
from tests import library
from tests.library import NUMBER, TEXT, call, desk_task, library_desk, tool

RESPONSES: dict[str, Any] = {}
"""What each tool of the desk returns, by its name."""
SHOP = EnvironmentSpec(
    tools=(
        tool("look", "read", what=TEXT),
        tool("leave_note", "write", text=TEXT),
        tool("pay_fee", "write", member=TEXT, amount=NUMBER),
        tool("count", "write", numbers={"type": "array", "items": NUMBER}),
    ),
    state={"notes": []},
)


class Shop(library.Desk):
    """Returns what a test says."""

    def call(self, call: ToolCall) -> ToolResponse:
        self.state["notes"].append(call.model_dump())
        return ToolResponse(text=json.dumps(RESPONSES.get(call.name, {"ok": True})))


@pytest.fixture(autouse=True)
def shop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(library, "Desk", Shop)
    request.getfixturevalue(library_desk.__name__)
    yield
    RESPONSES.clear()


def claims(returned: Any, made: ToolCall, says: str = "Pass it on.") -> list[str]:
    RESPONSES["look"] = returned
    task: AgentTask = desk_task(call("look", what="it"), made, says=says, environment=SHOP)
    return [item.hit.claim for item in check_shard([task], {}, [MiscopiedResult()]).hits]


def pay(amount: float) -> ToolCall:
    return call("pay_fee", member="ada", amount=amount)


def note(text: str) -> ToolCall:
    return call("leave_note", text=text)


@pytest.mark.parametrize(
    ("returned", "made", "says", "part"),
    [
        (
            {"at": "456 Oak Street, Rivertown"},
            note("465 Oak Street, Rivertown"),
            "Pass it on.",
            "465 in the place of 456",
        ),
        ({"price": 457.23}, note("It costs $547.23 per share!"), "Pass it on.", "the call returned 457.23"),
        ({"gallon": 43.852552}, pay(43.86), "Fill that in, to the nearest hundredth.", "not 43.852552"),
        ({"gallon": 7.92516}, pay(7.9), "Use 2 decimal digits.", "2 decimals of what the call returned: 7.93"),
        ({"value": 2857.14}, pay(2900.0), "Set the budget to that.", "no text asks to round it"),
        (
            {"file": "Al: 10 Bo: 95 Cy: 85 Di: 90 Ed: 88"},
            call("count", numbers=[10, 95, 85, 90]),
            "Go.",
            "less one number",
        ),
    ],
    ids=["a number in a text", "exchanged digits", "wrong rounding", "too few decimals", "rounded unasked", "a list"],
)
def test_another_value_than_returned(returned: Any, made: ToolCall, says: str, part: str) -> None:
    (claim,) = claims(returned, made, says)
    assert part in claim
    assert claim.endswith("('look', replayed).")


@pytest.mark.parametrize(
    ("returned", "made", "says"),
    [
        ({"at": "456 Oak Street, Rivertown"}, note("456 Oak Street, Rivertown"), "Pass it on."),
        ({"at": "456 Oak Street, Rivertown"}, note("465 Oak Street, Rivertown"), "Write '465 Oak Street, Rivertown'."),
        ({"price": 457.23}, note("It costs $457.23 per share!"), "Pass it on."),
        ({"price": 457.23, "old": 547.23}, note("It was $547.23 per share!"), "Pass on the old one."),
        ({"gallon": 43.852552}, pay(43.85), "Fill that in, to the nearest hundredth."),
        ({"gallon": 43.852552}, pay(43.86), "Fill that in, rounded up."),
        ({"value": 2857.14}, pay(2900.0), "Set the budget to that, rounded to hundreds."),
        ({"file": "Al: 10 Bo: 95 Cy: 85 Di: 90 Ed: 88"}, call("count", numbers=[10, 95, 85, 90, 88]), "Go."),
    ],
)
def test_what_is_passed_on_or_said(returned: Any, made: ToolCall, says: str) -> None:
    assert claims(returned, made, says) == []
