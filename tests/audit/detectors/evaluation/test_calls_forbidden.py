from typing import Any

import pytest

from agenthard.audit.detectors.evaluation import CallsForbidden
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth
from tests.builders import LEND, make_task

NO_CALL = Check(kind="no_call", scored=True)


def task(*checks: Check, **changes: Any) -> AgentTask:
    return make_task(evaluation=EvaluationSpec(checks=checks), **changes)


@pytest.mark.parametrize("kind", ["tool_calls", "final_state"])
def test_calls_that_are_wanted_and_forbidden(kind: Any) -> None:
    flawed = task(Check(kind=kind, scored=True), NO_CALL)
    [hit] = CallsForbidden().inspect(flawed)
    assert "lend_book" in hit.claim
    assert [failure(item, flawed, {}) for item in hit.evidence] == [None] * 3


READ = EnvironmentSpec(tools=(LEND.model_copy(update={"effect": "read"}),))


@pytest.mark.parametrize(
    "sound",
    [
        task(NO_CALL),
        task(Check(kind="tool_calls", scored=False), NO_CALL),
        task(Check(kind="tool_calls", scored=True), NO_CALL, ground_truth=GroundTruth(semantics="none", turns=((),))),
        task(Check(kind="final_state", scored=True), NO_CALL, environment=READ),
    ],
)
def test_tasks_that_do_not_contradict_themselves(sound: AgentTask) -> None:
    assert list(CallsForbidden().inspect(sound)) == []


def test_a_check_that_is_not_scored_forbids_nothing() -> None:
    off = NO_CALL.model_copy(update={"scored": False})
    assert CallsForbidden().not_applicable(task(Check(kind="tool_calls", scored=True), off)) is not None
