"""Refusals that have to name what is not missing."""

import pytest

from agenthard.audit.detectors.ground_truth import UnfoundedRefusal
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, Status, ToolSpec, UserSpec
from tests.builders import make_task

RESERVE = ToolSpec(
    name="reserve",
    parameters={
        "type": "object",
        "properties": {
            "bookTitle": {"type": "string"},
            "shelfNumber": {"type": "integer"},
            "note": {"type": "string"},
            "pickup": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
        },
        "required": ["bookTitle", "shelfNumber"],
    },
)


def refusal(*named: str, says: str = "Reserve a book.", about: tuple[str, ...] = ("reserve",)) -> AgentTask:
    return make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=says),),)),
        environment=EnvironmentSpec(tools=(RESERVE,)),
        ground_truth=GroundTruth(semantics="required", turns=((),), outputs=named),
        traits=frozenset({"expects_no_call"}),
        metadata={"about": list(about)},
    )


def claims(task: AgentTask) -> list[str]:
    return [item.hit.claim for item in check_shard([task], {}, [UnfoundedRefusal()]).hits]


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (refusal("bookTitel"), "'bookTitel', which is no parameter of reserve, and the user does not say it"),
        (refusal("note"), "'note', and reserve can be called without it"),
        (refusal("shelfNumber", says="The shelf number is 12."), "'shelfNumber', and the user gives its value"),
        (refusal("12a", says="Shelf 12b, please.", about=("shelfNumber",)), "'12a', which is no value that the user"),
        (refusal("12b", says="Shelf 12b.", about=("shelfNo",)), "about 'shelfNo', and the task offers no tool"),
    ],
)
def test_refusals_without_a_reason(task: AgentTask, words: str) -> None:
    (claim,) = claims(task)
    assert words in claim


@pytest.mark.parametrize(
    "task",
    [
        refusal("bookTitle", "shelfNumber"),
        refusal("day"),  # required within the optional pickup
        refusal("shelfNumber", says="It is on a shelf without a shelf number."),
        refusal("12b", says="Shelf 12b, please.", about=("shelfNumber",)),
        refusal("'12b'", says="Shelf 12b, please."),
    ],
)
def test_refusals_with_a_reason(task: AgentTask) -> None:
    assert claims(task) == []


def test_other_tasks_are_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [UnfoundedRefusal()]).coverage
    assert row.status is Status.NOT_CHECKED
