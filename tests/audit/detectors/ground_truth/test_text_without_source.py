"""Gold texts against the request and against what earlier calls returned, by replay in a real environment."""

from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import TextWithoutSource
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Status
from agenthard.taxonomy.task import ToolSpec
from tests.library import DESK, call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SUMMARY = (
    "A gardener walks along the northern river in winter and counts the herons, which grow fewer every year until one "
    "morning there are forty of them, and nobody in the village can say where all of these birds have come from"
)
OTHER = "Meeting of the budget committee moved to Thursday afternoon, bring printed invoices"


def hits(task: AgentTask) -> list[Hit]:
    shard = check_shard([task], {}, [TextWithoutSource()])
    assert [row.reason for row in shard.coverage if row.status is Status.ERROR] == []
    return [item.hit for item in shard.hits]


def about(text: str, says: str = "Find b7, and leave its summary as a note.", **changes: Any) -> AgentTask:
    books = {"b7": {"lent_to": None, "summary": SUMMARY}}
    return desk_task(
        call("find_book", book="b7"),
        call("leave_note", text=text),
        says=says,
        **{"environment": DESK.model_copy(update={"state": {**DESK.state, "books": books}}), **changes},
    )


def test_a_text_that_nothing_says() -> None:
    [hit] = hits(about(OTHER))
    assert "nothing that an agent can see has 'meeting', 'budget', 'committee', 'moved' and 5 more" in hit.claim
    assert [each.pointer for each in hit.evidence] == [
        "/ground_truth/turns/0/1/arguments/text",
        "/user/turns/0/0/content",
    ]


def test_a_text_that_an_earlier_call_returns_otherwise() -> None:
    [hit] = hits(about(SUMMARY.replace("forty", "fourteen")))
    assert "but an earlier gold call returns" in hit.claim


@pytest.mark.parametrize(
    "task",
    [
        about(SUMMARY),
        about(SUMMARY.upper().replace(",", "\n")),
        about(SUMMARY[:100]),
        about(OTHER, says=f"Leave a note: '{OTHER}'."),
        about("The herons by the northern river are counted in the winter mornings"),
        about("会议改到星期四下午，请带上打印好的发票"),
        about("Meeting moved"),
    ],
    ids=["copied", "capitals", "a part", "said", "own words", "another script", "short"],
)
def test_texts_with_a_source(task: AgentTask) -> None:
    assert hits(task) == []


def test_texts_that_no_score_depends_on() -> None:
    tools = tuple(each for each in DESK.tools if each.name != "leave_note")
    note: ToolSpec = next(each for each in DESK.tools if each.name == "leave_note")
    read = DESK.model_copy(update={"tools": (*tools, note.model_copy(update={"effect": "read"}))})
    assert hits(about(OTHER, environment=read)) == []


def test_what_cannot_be_checked() -> None:
    assert TextWithoutSource().not_applicable(desk_task(lend())) == "no gold call has a text of 5 words"
