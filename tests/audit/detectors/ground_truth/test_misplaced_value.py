from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import MisplacedValue
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

_LIST = {"type": "array", "items": {"type": "string"}}
POST = ToolSpec(
    name="post",
    parameters={
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "tags": _LIST,
            "mentions": _LIST,
            "sender": {"type": "string"},
            "reply_to": {"type": "string"},
            "delay": {"type": "integer"},
        },
        "required": ["content"],
    },
)


def hits(said: str, **arguments: Any) -> list[Hit]:
    call = ToolCall(name="post", arguments={"content": "On the road!", **arguments})
    subject: AgentTask = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(POST,)),
        ground_truth=GroundTruth(semantics="required", turns=((call,),), call_matching="exact"),
    )
    found = list(MisplacedValue().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def test_a_hashtag_among_the_mentions() -> None:
    [hit] = hits("Post 'On the road!' with the hashtag 'Whales2024'.", mentions=["#Whales2024"])
    assert hit.claim == (
        "The gold call of 'post' gives '#Whales2024' as 'mentions', but the user calls it 'hashtag', and the tool "
        "has 'tags'."
    )
    assert [item.quote for item in hit.evidence] == ["#Whales2024", "with the hashtag"]


@pytest.mark.parametrize("said", ["with the tag Whales", "The tag is 'Whales'.", "The tags: Whales."])
def test_ways_to_name_it(said: str) -> None:
    assert hits(f"Post 'On the road!' {said}", mentions=["Whales"])


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("with the hashtag 'Whales'", {"tags": ["#Whales"]}),
        ("with the hashtag 'Whales'", {"mentions": ["#Whales"], "tags": ["Whales"]}),  # given there as well
        ("with the hashtag 'Whales' and mention Whales", {"mentions": ["Whales"]}),  # it is both
        ("and mention the tag Whales", {"mentions": ["Whales"]}),  # the parameter's own name is said
        ("and tell Whales", {"mentions": ["Whales"]}),  # no name
        ("from the sender Whales", {"mentions": ["Whales"]}),  # of another type
        ("with the hashtag 'Whaleship'", {"mentions": ["Whales"]}),  # another value
        ("with the reply Whales", {"sender": "Whales"}),  # one word of two
    ],
)
def test_not_flagged(said: str, arguments: dict[str, Any]) -> None:
    assert not hits(f"Post 'On the road!' {said}.", **arguments)


def test_what_cannot_be_checked_says_why() -> None:
    truth = GroundTruth(semantics="required", turns=((ToolCall(name="post"),),))
    silent = make_task(user=UserSpec(kind="scripted"), ground_truth=truth)
    assert MisplacedValue().not_applicable(silent) == "the user says nothing"
    assert (
        MisplacedValue().not_applicable(make_task(ground_truth=GroundTruth(semantics="required")))
        == "the ground truth holds no calls"
    )
