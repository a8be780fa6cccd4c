"""Recorded runs under a changed ground truth: judged again only where the verdict can be trusted."""

from collections.abc import Sequence
from typing import Any

from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    ToolResponse,
    UnavailableError,
    Verdict,
)
from agenthard.audit.repair.rescoring import RescoredRun, rescore
from agenthard.taxonomy import AgentTask, GroundTruth, Message, ToolCall, Trajectory, UserSpec
from tests.builders import make_run, make_task


class Lending(Environment):
    """Lends books: an attempt passes when it makes the calls of the ground truth."""

    name = "lending"
    reads_runs = True

    def version(self) -> str:
        return "1"

    def supports(self, task: AgentTask) -> str | None:
        return "no books here" if task.subtask == "empty" else None

    def reset(self, task: AgentTask) -> None:
        return None

    def call(self, call: ToolCall) -> ToolResponse:
        return ToolResponse(text="lent")

    def snapshot(self) -> Any:
        return None

    def attempt_of(self, messages: Sequence[Message]) -> Attempt | None:
        if not messages:
            return None
        return Attempt(turns=(tuple(call for message in messages for call in message.tool_calls),))

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        made = [call.arguments for turn in attempt.turns for call in turn]
        if any(call.get("book_id") == 13 for call in made):
            raise ExecutionError("the shelf fell over")
        return Verdict(passed=made == [call.arguments for turn in task.ground_truth.turns for call in turn])


class Shelf(Execution):
    """Executes every task with the environment above."""

    def environment_of(self, task: AgentTask) -> Environment:
        environment = Lending()
        if reason := environment.supports(task):
            raise UnavailableError(reason)
        return environment


def gold(book: Any) -> GroundTruth:
    call = ToolCall(name="lend_book", arguments={"book_id": book})
    return GroundTruth(semantics="required", turns=((call,),))


def lends(book: Any) -> tuple[Message, ...]:
    return (Message(role="assistant", tool_calls=(ToolCall(name="lend_book", arguments={"book_id": book}),)),)


BEFORE = make_task(ground_truth=gold("7"))
AFTER = make_task(ground_truth=gold(7))


def scored(run: Trajectory, after: AgentTask = AFTER, before: AgentTask = BEFORE) -> RescoredRun:
    [found] = rescore({before.id: before}, {after.id: after}, [run], Shelf())
    return found


def test_a_right_run_that_failed_passes_under_the_repaired_ground_truth() -> None:
    found = scored(make_run(passed=False, messages=lends(7)))
    assert (found.before, found.after, found.evaluator) == (False, True, "lending 1")


def test_a_run_that_passed_by_the_mistake_fails() -> None:
    found = scored(make_run(passed=True, messages=lends("7")))
    assert (found.before, found.after) == (True, False)


def test_a_verdict_that_cannot_be_reproduced_is_not_taken_over() -> None:
    found = scored(make_run(passed=True, messages=lends(7)))
    assert found.after is None and "another verdict than recorded" in found.reason


def test_a_repair_of_what_the_model_saw_makes_the_run_one_of_another_task() -> None:
    said = UserSpec(kind="scripted", turns=((Message(role="user", content="Lend book 8 to Ada."),),))
    found = scored(make_run(passed=False, messages=lends(7)), AFTER.model_copy(update={"user": said}))
    assert found.after is None and "the repair changes what the user says" in found.reason


def test_runs_that_fail_under_any_ground_truth_stay_failures() -> None:
    cut_off = scored(make_run(passed=False))
    broken = scored(make_run(passed=False, status="agent_error", messages=lends(7)))
    assert [(each.after, each.reason) for each in (cut_off, broken)] == [(False, ""), (False, "")]
    assert scored(make_run(passed=True)).reason == "the recorded conversation was cut off, and yet it passed"


def test_what_cannot_be_executed_says_why() -> None:
    assert scored(make_run(passed=False, messages=lends(13))).reason == "the evaluator failed: the shelf fell over"
    empty = [task.model_copy(update={"subtask": "empty"}) for task in (AFTER, BEFORE)]
    assert "no books here" in scored(make_run(passed=False, messages=lends(7)), *empty).reason
    [lost] = rescore({}, {}, [make_run()], Shelf())
    assert lost.after is None and lost.reason == "the repaired task cannot be read"


def test_runs_without_a_verdict_are_left_out() -> None:
    assert list(rescore({BEFORE.id: BEFORE}, {AFTER.id: AFTER}, [make_run(passed=None)], Shelf())) == []
