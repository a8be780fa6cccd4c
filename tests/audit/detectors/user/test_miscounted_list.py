"""Numbers that announce a list, and lists of another length."""

import pytest

from agenthard.audit.detectors.user import MiscountedList
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Message, Status, UserSpec
from tests.builders import make_task


def says(text: str) -> AgentTask:
    return make_task(user=UserSpec(kind="scripted", turns=((Message(role="user", content=text),),)))


def claims(text: str) -> list[str]:
    return [item.hit.claim for item in check_shard([says(text)], {}, [MiscountedList()]).hits]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "Write four keys: title, author, and year, then stop.",
            "The text announces four, and 3 follow: title, author, and year",
        ),
        ("My 3 scores are 8, 9, 7, 6.", "The text announces 3, and 4 follow: 8, 9, 7, 6"),
        ("他完成了5个任务，评分分别是8, 9, 7, 6, 9, 5。", "The text announces 5, and 6 follow: 8, 9, 7, 6, 9, 5"),
    ],
)
def test_lists_of_another_length(text: str, claim: str) -> None:
    assert claims(text) == [claim]


@pytest.mark.parametrize(
    "text",
    [
        "Write three keys: title, author, and year.",
        "Two groups of numbers: 1, 2, 3 and 4, 5, 6.",
        "four lists of numbers: [45, 12, 67, 21, 89], [1, 2]",
        "我有3个分数，分别是8, 9, 7。",
    ],
)
def test_lists_that_are_announced_right(text: str) -> None:
    assert claims(text) == []


def test_texts_without_a_list_are_not_checked() -> None:
    (row,) = check_shard([make_task()], {}, [MiscountedList()]).coverage
    assert row.status is Status.NOT_CHECKED
