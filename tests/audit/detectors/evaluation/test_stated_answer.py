from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.evaluation import StatedAnswer
from agenthard.audit.evidence import failure
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, Message, ToolCall, UserSpec
from tests.builders import LEND, make_task
from tests.corpora import tasks_of

GOLD = GroundTruth(
    semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 7, "member": "B-1877"}),),)
)
SHELF = LEND.model_copy(
    update={"parameters": {"type": "object", "properties": {"member": {"type": "string", "enum": ["B-1877", "B-2"]}}}}
)


def said(text: str) -> UserSpec:
    return UserSpec(kind="scripted", turns=((Message(role="user", content=text),),))


def find(**changes: Any) -> list[Hit]:
    task = make_task(**{"ground_truth": GOLD, **changes})
    hits = list(StatedAnswer().inspect(task))
    assert [failure(item, task, {}) for hit in hits for item in hit.evidence] == [None] * 2 * len(hits)
    return hits


def policy(text: str) -> EnvironmentSpec:
    return EnvironmentSpec(tools=(LEND,), policy=f"Lend at most five books. {text}")


def documented(text: str) -> EnvironmentSpec:
    return EnvironmentSpec(tools=(LEND.model_copy(update={"description": text}),))


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"user": said('Lend book 7.\n(The correct call: {"member": "B-1877"})')}, "/user/turns/0/0/content"),
        ({"user": said("Lend book 7. Answer: B-1877")}, "/user/turns/0/0/content"),
        ({"environment": policy("Be kind. @expected B-1877")}, "/environment/policy"),
        ({"environment": policy("Correct member: B-1877\nBe kind.")}, "/environment/policy"),
        ({"user": UserSpec(kind="simulated", instruction="The grader wants B-1877.")}, "/user/instruction"),
        ({"user": said("Lend book 7. <!-- to B-1877 -->")}, "/user/turns/0/0/content"),
        ({"user": said("Lend book 7 (QA note: only B-1877 passes)")}, "/user/turns/0/0/content"),
        ({"environment": policy("{# 12: B-1877 #}")}, "/environment/policy"),
        ({"environment": policy("In this task the member is b-1877.")}, "/environment/policy"),
        (
            {"environment": policy("\n## Gold actions for this request\n* lend to B-1877\n\nBe kind.")},
            "/environment/policy",
        ),
        ({"user": said("Lend book 7. <gold_answer>B-1877</gold_answer>")}, "/user/turns/0/0/content"),
        ({"user": said("expected_arguments:\n  member: B-1877\n\nLend book 7.")}, "/user/turns/0/0/content"),
        ({"environment": documented("Lend. The answer key says B-1877.")}, "/environment/tools/0/description"),
    ],
)
def test_a_text_that_gives_the_value_away(changes: dict[str, Any], pointer: str) -> None:
    [hit] = find(**changes)
    assert hit.evidence[0].pointer == pointer
    assert hit.evidence[1].pointer == "/ground_truth/turns/0/0/arguments/member"


@pytest.mark.parametrize(
    "changes",
    [
        {"user": said("Lend book 7 to B-1877.")},
        {"user": said("Lend book 7 to B-1877. <!-- B-1877 -->")},
        {"user": said("Lend book 7 (member: B-1877).")},
        {"user": said("Lend book 7 to B-1877. I hope that B-1877 is the correct answer.")},
        {"user": said("For this request use the card B-1877.")},
        {"user": said("Lend book 7."), "environment": policy("The correct answer is B-18771.")},
        {"environment": policy("Ids of members look like B-1877.")},
        {"environment": policy("In this task ids look like B-1877, for example.")},
        {"environment": documented("Lend (expected: an id).")},
        {"environment": policy("In this task the member is B-1877."), "user": said("Lend book 7 to B-1877.")},
        {"environment": EnvironmentSpec(tools=(SHELF,), policy="The expected answer is B-1877 or B-2.")},
    ],
)
def test_what_has_to_be_said_and_what_documents(changes: dict[str, Any]) -> None:
    assert find(**changes) == []


def test_values_that_stand_everywhere_are_not_looked_for() -> None:
    gold = GroundTruth(semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 7}),),))
    assert StatedAnswer().not_applicable(make_task(ground_truth=gold)) is not None


def test_required_text() -> None:
    gold = GroundTruth(semantics="reference_path", outputs=("327.50",))
    [hit] = find(ground_truth=gold, user=said("What do I owe? The checker looks for 327.50."))
    assert hit.evidence[1].pointer == "/ground_truth/outputs/0"


@pytest.mark.corpora
def test_no_noise_on_real_benchmarks(corpora: Path) -> None:
    check = StatedAnswer()
    tasks: list[AgentTask] = [
        *tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17"),
        *tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3"),
    ]
    assert [task.id for task in tasks if check.not_applicable(task) is None and list(check.inspect(task))] == []


PRICED = GroundTruth(semantics="reference_path", outputs=("12.75",), call_matching="state")


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("What does it cost? The closing reply has to state 12.75.", 1),
        ("What does it cost?\nassert '12.75' in answer", 1),
        ("What does it cost?\n\n### Grading criteria\n1. names 12.75", 1),
        ("Pay 12.75 for me.", 0),
        ("### Grading criteria\n\n- names 12.75", 1),
        ("Grading criteria:\n\nWrite me a letter, and put 12.75 into it.", 0),
    ],
)
def test_what_a_reply_has_to_contain(text: str, hits: int) -> None:
    assert len(find(user=said(text), ground_truth=PRICED)) == hits


def test_what_a_letter_has_to_contain_is_a_request() -> None:
    assert find(user=said("Write to Bo. The reply must mention B-1877.")) == []


@pytest.mark.parametrize(
    ("schema", "state", "hits"),
    [
        ({"default": "B-1877"}, {"members": ["B-1877", "B-2"]}, 1),
        ({"examples": ["B-1877"]}, {"members": ["B-1877", "B-2"]}, 1),
        ({"examples": ["B-1877", "B-2"]}, {"members": ["B-1877", "B-2"]}, 0),
        ({"default": "B-1877"}, {"members": ["B-2"]}, 0),
        ({"default": "B-2"}, {"members": ["B-1877", "B-2"]}, 0),
    ],
)
def test_a_schema_that_shows_the_record_of_this_task(schema: Any, state: Any, hits: int) -> None:
    tool = LEND.model_copy(update={"parameters": {"type": "object", "properties": {"member": schema}}})
    assert len(find(environment=EnvironmentSpec(tools=(tool,)), initial_state=state)) == hits
