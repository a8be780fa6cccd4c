"""Whether a task is sound and a planted flaw is real: asked of the audit, the schema, the replay and the evaluator."""

from collections.abc import Sequence
from typing import Any

from jsonschema.exceptions import SchemaError
from referencing.exceptions import Unresolvable

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.detectors.support.schema import safe_validator
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Replay, gold_turns
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.finding import Tier
from agenthard.taxonomy.task import AgentTask


def fits(schema: dict[str, Any], value: Any) -> bool | None:
    """Tell whether a value fits a schema; None when the schema cannot be used."""
    try:
        return bool(safe_validator(schema).is_valid(value))
    except (SchemaError, Unresolvable, TypeError, ValueError):
        return None


def replay_of_gold(task: AgentTask) -> Replay | None:
    """Replay the ground truth; None where nothing executes it."""
    try:
        return gold_replay(task) if why_not_replayed(task) is None else None
    except (UnavailableError, ExecutionError):
        return None


def gold_succeeds(task: AgentTask) -> bool:
    """Tell whether the ground truth is executed without an error and changes something."""
    done = replay_of_gold(task)
    return done is not None and done.final != done.initial and all(not step.observation.error for step in done.steps)


def accepts_gold(task: AgentTask) -> bool | None:
    """Let the task's evaluator judge its ground truth; None without an evaluator."""
    return verdict_of(task, Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs))


def verdict_of(task: AgentTask, attempt: Attempt) -> bool | None:
    """Let the task's evaluator judge an attempt; None where there is none."""
    try:
        return environment_of(task).evaluate(task, attempt).passed
    except (UnavailableError, ExecutionError):
        return None


def has_independent_evaluator(task: AgentTask) -> bool:
    """Tell whether the evaluator knows what is right without the ground truth: it rejects an emptied one."""
    truth = task.ground_truth
    emptied = truth.model_copy(update={"turns": ((),) * len(truth.turns), "outputs": ()})
    return (
        accepts_gold(task) is True and verdict_of(task.model_copy(update={"ground_truth": emptied}), Attempt()) is False
    )


def sound_tasks(tasks: Sequence[AgentTask]) -> list[AgentTask]:
    """Keep the tasks without a finding, whose ground truth is executed and accepted wherever that can be tried.

    Signals do not count: they say nothing about a task. A task that nothing executes is kept as well.

    Args:
        tasks: tasks of one benchmark, in its order.
    """
    everything = detectors()
    findings, _ = conclude("", [task.id for task in tasks], [check_shard(tasks, {}, everything)], everything)
    flagged = {id for finding in findings if finding.tier is not Tier.SIGNAL for id in finding.task_ids}
    return [task for task in tasks if task.id not in flagged and _runs(task)]


def _runs(task: AgentTask) -> bool:
    if accepts_gold(task) is False:
        return False
    done = replay_of_gold(task)
    return done is None or (done.final != done.initial and not any(step.observation.error for step in done.steps))
