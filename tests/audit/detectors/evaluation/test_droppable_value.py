from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.evaluation import DroppableValue
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, ToolSpec, UserSpec
from tests.builders import make_task

LEND = ToolSpec(
    name="lend",
    parameters={
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "branch": {"type": "string", "description": "Where to pick it up. Default is 'Harbour'."},
            "weeks": {"type": "integer", "default": 2},
            "shelf": {"type": "string", "default": "all"},
        },
        "required": ["title"],
    },
)


def hits(said: str, *, title: str = "Emma", **optional: list[Any]) -> list[Hit]:
    arguments = {name: {"$any_of": accepted, "$optional": True} for name, accepted in optional.items()}
    call = ToolCall(name="lend", arguments={"title": title, **arguments})
    subject: AgentTask = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(LEND,)),
        ground_truth=GroundTruth(semantics="required", turns=((call,),), call_matching="exact"),
    )
    found = list(DroppableValue().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def test_a_branch_other_than_the_default() -> None:
    [hit] = hits("Lend me Emma at the Station branch.", branch=["Station"])
    assert hit.claim == (
        "The user says 'Station', and the answer accepts that the call of 'lend' leaves out 'branch', whose default "
        "is 'Harbour'."
    )


def test_a_number_in_words() -> None:
    assert hits("Lend me Emma for four weeks.", weeks=[4])


@pytest.mark.parametrize(
    ("said", "optional"),
    [
        ("Lend me Emma at the Harbour branch.", {"branch": ["Harbour"]}),
        ("Lend me Emma.", {"branch": ["Station"]}),
        ("Lend me Emma for 2 weeks.", {"weeks": [2.0]}),
        ("Lend me Emma from shelf B.", {"shelf": ["B"]}),
        ("Lend me Emma at the Station branch, or in Harbour.", {"branch": ["Station"]}),
    ],
)
def test_innocent(said: str, optional: dict[str, list[Any]]) -> None:
    assert not hits(said, **optional)


def test_a_word_of_another_value() -> None:
    assert not hits("Lend me Station Eleven.", title="Station Eleven", branch=["Station"])
