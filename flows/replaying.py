"""Replaying one task for a person to read."""

from pathlib import Path

from agenthard.audit.execution.environment import Attempt, Environment, ExecutionError, UnavailableError, Verdict
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.mutation import Mutant, mutants
from agenthard.audit.execution.replay import Turns, gold_turns
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.finding import Proof
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall


class ShownStep(Record):
    """One call and what it led to."""

    turn: int
    """Turn, from 0."""
    index: int
    """Position within the turn, from 0."""
    call: ToolCall
    """The call."""
    response: str
    """The response as an agent is shown it."""
    error: str | None = None
    """Why it failed; None when it did not."""
    changes: tuple[Difference, ...] = ()
    """What it changed."""


class Replayed(Record):
    """A replay with its verdict."""

    task: str
    """Id of the task."""
    environment: str
    """What ran, with its version."""
    mutant: Mutant | None = None
    """What was changed in the ground truth; None for the ground truth as it stands."""
    not_executed: str = ""
    """Why no call was executed; empty when they were."""
    steps: tuple[ShownStep, ...] = ()
    """The calls in order."""
    replies: tuple[str, ...] = ()
    """What was said to the user."""
    verdict: Verdict
    """What the evaluator says of the whole."""
    should_pass: bool | None = None
    """What it would have to say; None where nothing is claimed about it."""


def find_task(source: str, path: Path, task_id: str) -> AgentTask:
    """Read the benchmark up to a task.

    Raises:
        SourceError: the benchmark cannot be read.
        CommandError: it has no such task.
    """
    quarantine = Quarantine()
    for task in open_source(source, path, ()).tasks(quarantine):
        if task.id == task_id:
            return task
    raise CommandError(f"{path} has no task {task_id!r}; tasks that could not be read: {len(quarantine.items)}")


def list_mutants(task: AgentTask) -> list[Mutant]:
    """List what `--mutant` can name.

    Raises:
        CommandError: the ground truth cannot be executed here.
    """
    try:
        return list(mutants(task))
    except (UnavailableError, ExecutionError) as reason:
        raise CommandError(f"{task.id}: {reason}") from reason


def replay_task(task: AgentTask, mutant_id: str | None = None) -> Replayed:
    """Replay the ground truth of a task, or a mutant of it, and let the evaluator judge it.

    Raises:
        CommandError: there is no such mutant, the task has no ground truth to replay, or it cannot be executed or
            judged here.
    """
    if task.ground_truth.semantics == "none" and not any(True for _ in task.gold_calls()):
        notes = "; ".join(check.note for check in task.evaluation.checks if check.scored and check.note)
        raise CommandError(
            f"{task.id}: the ground truth has no call that could be replayed{f' ({notes})' * bool(notes)}"
        )
    attempt, mutant = Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs), None
    if mutant_id is not None:
        mutant = next((each for each in list_mutants(task) if each.id == mutant_id), None)
        if mutant is None:
            raise CommandError(f"{task.id} has no mutant {mutant_id!r}; --mutant '?' lists them")
        attempt = mutant.attempt
    return _replayed(task, attempt, mutant)


def replay_proof(task: AgentTask, proof: Proof) -> Replayed:
    """Replay the constructed attempt that a finding names as scored wrongly, and let the evaluator judge it.

    Raises:
        CommandError: the proof is a recorded run, or the task cannot be executed or judged here.
    """
    if proof.kind == "recorded":
        raise CommandError(f"the proof is the recorded run {proof.trajectory_id}, which is not replayed")
    shown = _replayed(task, Attempt(turns=proof.turns, replies=proof.replies), None)
    return shown.model_copy(update={"should_pass": proof.should_pass})


def _replayed(task: AgentTask, attempt: Attempt, mutant: Mutant | None) -> Replayed:
    try:
        environment = environment_of(task)
        not_executed = ""
        try:
            steps = _steps(environment, task, attempt.turns)
        except UnavailableError as reason:
            not_executed, steps = str(reason), ()
        verdict = environment.evaluate(task, attempt)
    except (UnavailableError, ExecutionError) as reason:
        raise CommandError(f"{task.id}: {reason}") from reason
    return Replayed(
        task=task.id,
        environment=environment.label(),
        mutant=mutant,
        not_executed=not_executed,
        steps=steps,
        replies=attempt.replies,
        verdict=verdict,
    )


def _steps(environment: Environment, task: AgentTask, turns: Turns) -> tuple[ShownStep, ...]:
    environment.reset(task)
    state = environment.snapshot()
    steps = []
    for number, turn in enumerate(turns):
        for index, call in enumerate(turn):
            seen = environment.call(call)
            after = environment.snapshot()
            changes = tuple(differences(state, after, task.environment.state))
            steps.append(
                ShownStep(turn=number, index=index, call=call, response=seen.text, error=seen.error, changes=changes)
            )
            state = after
    return tuple(steps)
