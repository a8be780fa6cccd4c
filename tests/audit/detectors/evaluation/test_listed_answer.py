from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.evaluation import ListedAnswer
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Finding, GroundTruth, ToolCall
from tests.builders import make_task

BOOKS = {f"B-{i}": {"title": f"Volume {i}"} for i in range(9)}
PLAIN = {"books": BOOKS, "desk": {"open": True}}


def task(name: str, state: Any, *named: str) -> AgentTask:
    calls = tuple(ToolCall(name="lend_book", arguments={"book_id": id, "member": "Ada"}) for id in named)
    return make_task(id=name, initial_state=state, ground_truth=GroundTruth(semantics="required", turns=(calls,)))


def find(*tasks: AgentTask, siblings: int = 20) -> list[Finding]:
    tasks += tuple(task(f"other-{i}", PLAIN, f"B-{i % 9}") for i in range(siblings))
    shards = [check_shard([each], {}, [ListedAnswer()]) for each in tasks]
    findings, _ = conclude("tiny", [each.id for each in tasks], shards, [ListedAnswer()])
    return findings


@pytest.mark.parametrize(
    ("state", "pointer"),
    [
        ({**PLAIN, "t2": ["B-7", "B-3"]}, "/initial_state/t2"),
        ({**PLAIN, "t2": {"first": "B-3", "second": "B-7"}}, "/initial_state/t2"),
        ({**PLAIN, "desk": {"open": True, "x": ["B-3", "B-7", "B-7"]}}, "/initial_state/desk/x"),
        ({**PLAIN, "t2": {"B-7": True, "B-3": True}}, "/initial_state/t2"),
        ({**PLAIN, "t2": "B-7; B-3"}, "/initial_state/t2"),
        ({**PLAIN, "t2": {"t3": [{"book": "B-7"}, {"book": "B-3"}]}}, "/initial_state/t2/t3"),
        ({"books": [{"id": id, **row} for id, row in BOOKS.items()], "t2": ["B-3", "B-7"]}, "/initial_state/t2"),
    ],
)
def test_a_place_of_its_own_that_holds_the_answer(state: Any, pointer: str) -> None:
    [finding] = find(task("a", state, "B-3", "B-7"))
    assert finding.task_ids == ("a",) and "B-3, B-7" in finding.claim
    assert [item.pointer for item in finding.evidence] == [pointer, "/ground_truth/turns"]


@pytest.mark.parametrize(
    "state",
    [
        PLAIN,
        {**PLAIN, "t2": ["B-7"]},
        {**PLAIN, "t2": ["B-3", "B-7", "B-8"]},
        {**PLAIN, "t2": {"B-3": {"fee": 1}, "B-7": {"fee": 2}}},
        {**PLAIN, "books": {**BOOKS, "B-3": {"t2": ["B-3", "B-7"]}}},
        {"books": {id: BOOKS[id] for id in ("B-3", "B-7", "B-8")}, "t2": ["B-3", "B-7"]},
    ],
)
def test_what_holds_something_else_or_is_part_of_a_record(state: Any) -> None:
    assert find(task("a", state, "B-3", "B-7")) == []


def test_a_place_that_its_siblings_have_too_is_part_of_the_state() -> None:
    basket = {**PLAIN, "basket": ["B-7"]}
    assert len(find(task("a", basket, "B-7"))) == 1
    assert find(task("a", basket, "B-7"), task("b", basket, "B-8")) == []
    assert find(*(task(f"a{i}", basket, "B-7") for i in range(4))) == []
    assert find(task("a", basket, "B-7"), siblings=5) == []


def test_what_cannot_be_checked() -> None:
    assert ListedAnswer().not_applicable(task("a", None, "B-7")) == "the task has no state of its own"
    assert ListedAnswer().not_applicable(task("a", PLAIN)) == "the ground truth names nothing in calls"
