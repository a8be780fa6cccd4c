from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.evaluation import MarkedAnswer
from agenthard.audit.evidence import failure
from agenthard.taxonomy import GroundTruth, ToolCall
from tests.builders import make_task

GOLD = GroundTruth(semantics="required", turns=((ToolCall(name="lend_book", arguments={"book": "BK-2"}),),))
TITLES = {"BK-1": "Emma", "BK-2": "Ivanhoe", "BK-3": "Persuasion"}


def find(state: Any) -> list[Hit]:
    task = make_task(ground_truth=GOLD, initial_state=state)
    hits = list(MarkedAnswer().inspect(task))
    assert [failure(item, task, {}) for hit in hits for item in hit.evidence] == [None] * 2 * len(hits)
    return hits


def shelf(**marks: Any) -> dict[str, dict[str, Any]]:
    """Books by id, with one field given to some of them: ``BK_2={"new": True}``."""
    return {id: {"title": title, **marks.get(id.replace("-", "_"), {})} for id, title in TITLES.items()}


ROWS = [{"id": id, **row} for id, row in shelf(BK_2={"flag": True}).items()]
EVERYWHERE = {"BK_1": {"isCorrect": False}, "BK_2": {"isCorrect": True}, "BK_3": {"isCorrect": False}}


@pytest.mark.parametrize(
    ("state", "pointer"),
    [
        ({"books": shelf(BK_2={"is_answer": True})}, "/initial_state/books/BK-2/is_answer"),
        ({"books": shelf(BK_2={"flag": True})}, "/initial_state/books/BK-2/flag"),
        ({"shelves": [{"books": ROWS}]}, "/initial_state/shelves/0/books/1/flag"),
        ({"books": shelf(**EVERYWHERE)}, "/initial_state/books/BK-2/isCorrect"),
        ({"books": shelf(), "solution": ["BK-2"]}, "/initial_state/solution"),
        ({"books": shelf(), "solution": {"BK-2": None}}, "/initial_state/solution"),
        ({"books": shelf(BK_2={"zz": "Y"})}, "/initial_state/books/BK-2/zz"),
        ({"books": shelf(BK_2={"zz": 1})}, "/initial_state/books/BK-2/zz"),
        ({"books": shelf(BK_1={"_m": 0}, BK_2={"_m": 1}, BK_3={"_m": 0})}, "/initial_state/books/BK-2/_m"),
        ({"notes": {"expected_book": "BK-2"}}, "/initial_state/notes/expected_book"),
        ({"notes": {"gold_ids": ["BK-2"]}}, "/initial_state/notes/gold_ids"),
    ],
)
def test_a_mark(state: Any, pointer: str) -> None:
    [hit] = find(state)
    assert hit.evidence[0].pointer == pointer


@pytest.mark.parametrize(
    "state",
    [
        {"books": shelf()},
        {"books": shelf(BK_1={"in_stock": False}, BK_2={"in_stock": True}, BK_3={"in_stock": False})},
        {"books": shelf(BK_2={"flag": True}, BK_3={"flag": True})},
        {"books": shelf(BK_2={"discount": 5})},
        {"books": {"BK-1": {}, "BK-2": {"flag": True}}},
        {"basket": ["BK-2"], "expected_day": "2025-05-04"},
        {"gold_card_holders": ["BK-2"]},
    ],
)
def test_records_that_differ_as_records_do(state: Any) -> None:
    assert find(state) == []


def test_a_task_without_a_state_of_its_own() -> None:
    assert MarkedAnswer().not_applicable(make_task(ground_truth=GOLD)) == "the task has no state of its own"
