from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.evaluation import EmptyCheck
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EvaluationSpec,
    GroundTruth,
    Message,
    Severity,
    Status,
    ToolCall,
    UserSpec,
)
from tests.builders import make_task
from tests.corpora import tasks_of

CALL = ToolCall(name="lend_book", arguments={"book_id": 7, "member": "Ada"})
REQUEST = "Could you also send me the invoice?"


def conversation(*turns: tuple[str, bool], traits: tuple[str, ...] = ("unchecked_turns",)) -> AgentTask:
    """Build a task from (what the user says, whether the ground truth of that turn has a call)."""
    said = tuple((Message(role="user", content=text),) if text else () for text, _ in turns)
    gold = tuple((CALL,) if has_call else () for _, has_call in turns)
    return make_task(
        user=UserSpec(kind="scripted", turns=said),
        ground_truth=GroundTruth(semantics="reference_path", turns=gold, call_matching="state"),
        traits=frozenset(traits),
    )


def scored(kind: Any, expected: Any, *, score: bool = True) -> AgentTask:
    check = Check(kind=kind, scored=score, expected=expected)
    other = Check(kind="tool_calls", scored=True)
    return make_task(evaluation=EvaluationSpec(checks=(other, check)))


def hits(task: AgentTask) -> list[Any]:
    shard = check_shard([task], {}, [EmptyCheck()])
    assert shard.coverage[0].status is not Status.ERROR, shard.coverage[0].reason
    return [item.hit for item in shard.hits]


def test_a_request_whose_turn_has_an_empty_ground_truth() -> None:
    [hit] = hits(conversation(("Lend me book 7.", True), (REQUEST, False)))
    assert (hit.category, hit.severity) == ("unscored-requirement", Severity.MAY_AFFECT_SCORE)
    assert [(item.pointer, item.quote) for item in hit.evidence] == [
        ("/user/turns/1/0/content", REQUEST),
        ("/ground_truth/turns/1", "[]"),
    ]


@pytest.mark.parametrize(
    "task",
    [
        conversation(("Lend me book 7.", True), ("That is all.", False)),
        conversation(("Lend me book 7.", True), ("", False)),
        conversation((REQUEST, True)),
        conversation((REQUEST, False), traits=()),
        conversation((REQUEST, False), ("Ada.", True), traits=("unchecked_turns", "clarification_turns")),
    ],
    ids=["no request", "a tool is revealed", "the turn is checked", "no convention", "the agent has to ask back"],
)
def test_no_unanswered_request(task: AgentTask) -> None:
    assert hits(task) == []


def test_only_the_first_empty_turn_is_for_asking_back() -> None:
    traits = ("unchecked_turns", "clarification_turns")
    [hit] = hits(conversation((REQUEST, False), ("Ada.", True), ("Please call her.", False), traits=traits))
    assert hit.evidence[0].pointer == "/user/turns/2/0/content"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("output_substring", ""),
        ("output_substring", " \n"),
        ("output_substring", ["12", ""]),
        ("rubric", ""),
        ("judge", None),
        ("state_assertion", {}),
    ],
)
def test_a_scored_check_that_expects_nothing(kind: str, expected: Any) -> None:
    [hit] = hits(scored(kind, expected))
    assert hit.evidence[0].pointer == "/evaluation/checks/1"


@pytest.mark.parametrize(
    "task",
    [
        scored("output_substring", "12"),
        scored("output_substring", "", score=False),
        scored("final_state", None),
        scored("no_call", None),
        scored("state_assertion", {"lent": 7}),
    ],
)
def test_checks_that_expect_something_or_do_not_count(task: AgentTask) -> None:
    assert hits(task) == []


def test_without_a_scored_check_nothing_is_checked() -> None:
    [row] = check_shard([make_task(evaluation=EvaluationSpec())], {}, [EmptyCheck()]).coverage
    assert row.status is Status.NOT_CHECKED


@pytest.mark.corpora
def test_bfcl(corpora: Path) -> None:
    tasks = tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17")
    flagged = {task_id for hit in check_shard(tasks, {}, [EmptyCheck()]).hits for task_id in hit.task_ids}
    kinds = ("base", "long_context", "miss_func", "miss_param")
    assert flagged == {f"multi_turn_{kind}_{base}" for kind in kinds for base in (167, 180)}
