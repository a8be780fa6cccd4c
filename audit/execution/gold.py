"""Replays of ground truths in their own environment, once per task for all checks."""

from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import Attempt, Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.replay import Replay, gold_turns, replay
from agenthard.audit.replay_command import replay_template
from agenthard.taxonomy.task import AgentTask

_NEED_A_TRIAL = ("state_assertion", "rubric", "judge")
"""Kinds of checks that an environment may not support; only an evaluation shows it."""

GOLD_REPLAY = "gold replay"
"""Topic under which the replay of a task's ground truth is remembered."""
TRIAL = "trial of the evaluation"
"""Topic under which it is remembered whether attempts at a task can be judged."""
MILESTONES = "the ground truth is a list of milestones, and no path that could be followed"


def environment_of(task: AgentTask) -> Environment:
    """Return the environment that executes a task in the current execution.

    Raises:
        UnavailableError: when there is none for its benchmark, or it cannot execute this task.
    """
    return current_execution().environment_of(task)


def why_not_evaluated(task: AgentTask) -> str | None:
    """Return why attempts at a task cannot be judged; None when they can.

    Raises:
        ExecutionError: the evaluator broke.
    """
    kinds = {check.kind for check in task.evaluation.checks if check.scored}
    if not kinds:
        return "no check is scored"
    try:
        environment = environment_of(task)
        if kinds.isdisjoint(_NEED_A_TRIAL):
            return None
        found = current_execution().remember(TRIAL, task, lambda: _tried(environment, task))
    except UnavailableError as reason:
        return str(reason)
    if isinstance(found, ExecutionError):
        raise found
    return found


def _tried(environment: Environment, task: AgentTask) -> str | ExecutionError | None:
    """Return why an evaluation of an attempt that does nothing is not possible here, or how it broke."""
    try:
        environment.evaluate(task, Attempt())
    except UnavailableError as reason:
        return str(reason)
    except ExecutionError as failure:
        return failure  # kept as well: an evaluation may take minutes, and many checks ask
    return None


def why_not_replayed(task: AgentTask) -> str | None:
    """Return why the ground truth of a task cannot be replayed; None when it can. The replay is then cached.

    Raises:
        ExecutionError: the environment broke.
    """
    reason = why_no_path(task)
    if reason is None:
        try:
            gold_replay(task)
        except UnavailableError as unavailable:
            return str(unavailable)
    return reason


def why_no_path(task: AgentTask) -> str | None:
    """Return why the ground truth is not a path of calls to replay; None when it is, even if it cannot be executed."""
    if not any(True for _ in task.gold_calls()):
        return "the ground truth has no call"
    if task.ground_truth.semantics == "milestones":
        return MILESTONES
    if task.ground_truth.call_matching == "none":
        return "no check compares the calls of the ground truth, or the state they leave, with those of a run"
    if task.ground_truth.call_matching != "state":
        return "the calls of the ground truth are compared with those of a run; nothing executes them"
    return None


def why_not_mutated(task: AgentTask) -> str | None:
    """Return why answers that differ from the ground truth cannot be made and judged; None when they can.

    Raises:
        ExecutionError: the environment broke.
    """
    reason = MILESTONES if task.ground_truth.semantics == "milestones" else why_not_evaluated(task)
    if reason is None and task.ground_truth.call_matching == "state" and any(True for _ in task.gold_calls()):
        reason = why_not_replayed(task)
    return reason


def gold_replay(task: AgentTask) -> Replay:
    """Replay the ground truth of a task; the result is cached as long as the task lives.

    Raises:
        UnavailableError: it cannot be executed here.
        ExecutionError: the environment broke.
    """
    found = current_execution().remember(GOLD_REPLAY, task, lambda: _replayed(task))
    if isinstance(found, ExecutionError):
        raise found
    return found


def _replayed(task: AgentTask) -> Replay | ExecutionError:
    environment = environment_of(task)
    try:
        return replay(environment, task, gold_turns(task))
    except ExecutionError as failure:
        return failure  # kept as well: the environment is not started again for every check


def replay_command(task: AgentTask, mutant: str) -> str:
    """Write the command that replays a changed ground truth; publishing fills in the paths."""
    return replay_template(
        task.benchmark, task.id, "--mutant", mutant, own_code=current_execution().checkout is not None
    )
