"""Whether a planted flaw is real, asked of the schema, of the replay and of the evaluator."""

from typing import Any

from jsonschema.exceptions import SchemaError
from referencing.exceptions import Unresolvable

from agenthard.audit.detectors.support.schema import safe_validator
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Replay, gold_turns
from agenthard.taxonomy.task import AgentTask


def fits(schema: dict[str, Any], value: Any) -> bool | None:
    """Tell whether a value fits a schema; None when the schema cannot be used."""
    try:
        return bool(safe_validator(schema).is_valid(value))
    except (SchemaError, Unresolvable, TypeError, ValueError):
        return None


def replayed(task: AgentTask) -> Replay | None:
    """Replay the ground truth; None where nothing executes it."""
    try:
        return gold_replay(task) if why_not_replayed(task) is None else None
    except (UnavailableError, ExecutionError):
        return None


def runs_through(task: AgentTask) -> bool:
    """Tell whether the ground truth is executed without an error and changes something."""
    done = replayed(task)
    return done is not None and done.final != done.initial and all(not step.observation.error for step in done.steps)


def accepted(task: AgentTask) -> bool | None:
    """Let the task's evaluator judge its ground truth; None where there is no evaluator."""
    return judged(task, Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs))


def judged(task: AgentTask, attempt: Attempt) -> bool | None:
    """Let the task's evaluator judge an attempt; None where there is none."""
    try:
        return environment_of(task).evaluate(task, attempt).passed
    except (UnavailableError, ExecutionError):
        return None


def independent(task: AgentTask) -> bool:
    """Tell whether the evaluator knows what is right without the ground truth: it rejects an emptied one."""
    truth = task.ground_truth
    emptied = truth.model_copy(update={"turns": ((),) * len(truth.turns), "outputs": ()})
    return accepted(task) is True and judged(task.model_copy(update={"ground_truth": emptied}), Attempt()) is False
