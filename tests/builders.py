"""Small hand-made records that tests share."""

from typing import Any

from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    Origin,
    ToolCall,
    ToolSpec,
    Trajectory,
    UserSpec,
)

LEND = ToolSpec(
    name="lend_book",
    description="Lend a book to a member.",
    parameters={
        "type": "object",
        "properties": {"book_id": {"type": "integer"}, "member": {"type": "string"}},
        "required": ["book_id", "member"],
    },
    effect="write",
)


def make_task(task_id: str = "lib/1", **changes: Any) -> AgentTask:
    """One sound task of a small library, with the given fields replaced."""
    values: dict[str, Any] = {
        "id": task_id,
        "native_id": task_id,
        "benchmark": "library",
        "subtask": "lending",
        "user": UserSpec(kind="scripted", turns=((Message(role="user", content="Lend book 7 to Ada."),),)),
        "environment": EnvironmentSpec(tools=(LEND,), policy="Lend at most five books."),
        "evaluation": EvaluationSpec(checks=(Check(kind="tool_calls", scored=True),)),
        "ground_truth": GroundTruth(
            semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 7, "member": "Ada"}),),)
        ),
        "origins": {"": Origin(file="tasks.jsonl", line=1)},
    }
    return AgentTask(**{**values, **changes})


def make_run(task_id: str = "lib/1", model: str = "m1", passed: bool | None = True, **changes: Any) -> Trajectory:
    """One run with the given fields replaced; ``passed=None`` makes it an infrastructure error."""
    values: dict[str, Any] = {
        "id": f"{model}:{task_id}:{changes.get('trial', 0)}",
        "task_id": task_id,
        "model": model,
        "passed": passed,
        "score": None if passed is None else float(passed),
        "status": "infrastructure_error" if passed is None else "ok",
    }
    return Trajectory(**{**values, **changes})
