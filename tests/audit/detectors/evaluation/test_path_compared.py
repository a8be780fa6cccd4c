from typing import Any

import pytest

from agenthard.audit.detectors.evaluation import PathCompared
from agenthard.audit.evidence import failure
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, GroundTruth, ToolCall, ToolSpec
from tests.builders import make_task

LOOK, LEND = ToolSpec(name="look", effect="read"), ToolSpec(name="lend", effect="write")


def task(*names: str, matching: Any = "exact", kind: Any = "tool_calls", scored: bool = True) -> AgentTask:
    calls = tuple(ToolCall(name=name) for name in names)
    return make_task(
        environment=make_task().environment.model_copy(update={"tools": (LOOK, LEND)}),
        evaluation=EvaluationSpec(checks=(Check(kind=kind, scored=scored),)),
        ground_truth=GroundTruth(semantics="reference_path", turns=(calls,), call_matching=matching),
    )


@pytest.mark.parametrize("subject", [task("look", "lend"), task("look"), task("lend", "lend", matching="any_order")])
def test_one_way_of_several_is_compared(subject: AgentTask) -> None:
    [hit] = PathCompared().inspect(subject)
    assert all(failure(item, subject, {}) is None for item in hit.evidence)


@pytest.mark.parametrize(
    "subject",
    [
        task("lend"),
        task("look", "lend", matching="state"),
        task("look", "lend", kind="final_state"),
        task("look", "lend", scored=False),
    ],
)
def test_what_leaves_the_way_open(subject: AgentTask) -> None:
    assert list(PathCompared().inspect(subject)) == []


def test_required_calls_may_be_compared() -> None:
    assert PathCompared().not_applicable(make_task())
