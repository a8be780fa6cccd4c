from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import UnnamedChoice
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

_BINDING = {"type": "string", "enum": ["linen", "leather", "paper"]}
LEND = ToolSpec(
    name="order",
    parameters={
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "binding": _BINDING,
            "extras": {"type": "array", "items": {"type": "string", "enum": ["ribbon", "slipcase", "bookplate"]}},
            "weeks": {"type": "integer", "enum": [2, 4, 6]},
            "font_size": {"type": "integer", "description": "Font size in points. Default is 9."},
            "country": {"type": "string", "description": "Where it is sent. Default is 'Norway'."},
        },
        "required": ["title"],
    },
)


def hits(said: str, *calls: dict[str, Any]) -> list[Hit]:
    gold = tuple(ToolCall(name="order", arguments={"title": "Emma", **arguments}) for arguments in calls)
    subject: AgentTask = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(LEND,)),
        ground_truth=GroundTruth(semantics="required", turns=(gold,), call_matching="exact"),
    )
    found = list(UnnamedChoice().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def test_one_of_two_calls_has_a_choice_that_is_not_named() -> None:
    [hit] = hits("Order Emma in linen and in paper.", {"binding": "linen"}, {"binding": "leather"})
    assert hit.claim == (
        "The gold call of 'order' gives 'binding' as 'leather', but the user says 'paper', which means 'paper', and no "
        "call gives it."
    )


def test_a_choice_twice() -> None:
    [hit] = hits("Order Emma in linen and in paper.", {"binding": "linen"}, {"binding": "linen"})
    assert "as in another place, but the user says 'paper'" in hit.claim


def test_a_member_of_a_list() -> None:
    assert hits("Order Emma with a ribbon and a bookplate.", {"extras": ["ribbon", "slipcase"]})


def test_a_choice_that_may_be_left_out() -> None:
    assert hits("Order Emma in paper.", {"binding": {"$any_of": ["linen"], "$optional": True}})


def test_a_choice_that_does_not_exist() -> None:
    [hit] = hits("Order Emma in 'velvet' binding.", {"binding": "linen"})
    assert hit.claim == (
        "The gold call of 'order' gives 'binding' as 'linen', a choice that no text names; the user says 'velvet', "
        "which is none of the choices."
    )


def test_a_number_that_is_no_choice() -> None:
    assert hits("Order Emma for 2 weeks and for 5 weeks.", {"weeks": 2}, {"weeks": 6})


@pytest.mark.parametrize(
    ("said", "default"),
    [
        ("Order Emma with a font size of 12 points.", {"font_size": 9}),
        ("Order Emma in Iceland.", {"country": "Norway"}),
    ],
)
def test_a_default_instead_of_what_is_said(said: str, default: dict[str, Any]) -> None:
    [(name, value)] = default.items()
    assert hits(said, {name: {"$any_of": [value], "$optional": True}})


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("Order Emma in linen and in paper.", [{"binding": "linen"}, {"binding": "paper"}]),
        ("Order Emma bound in cloth, not in paper.", [{"binding": "linen"}]),
        ("Order Emma for my paper.", [{"binding": "linen"}]),
        ("Order both in linen, not in paper.", [{"binding": "linen"}, {"binding": "linen"}]),
        ("Order Emma with a ribbon and a bookplate.", [{"extras": ["ribbon", "bookplate"]}]),
        ("Order Emma with 12 ribbons.", [{"font_size": {"$any_of": [9], "$optional": True}}]),
        ("Order Emma in 'velvet' binding.", [{"binding": "linen", "title": "velvet"}]),
    ],
)
def test_innocent(said: str, calls: list[dict[str, Any]]) -> None:
    assert not hits(said, *calls)
