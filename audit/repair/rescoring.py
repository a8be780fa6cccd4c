"""Recorded runs of a repaired task, judged again by the evaluator under the changed ground truth.

A verdict is taken over only where it can be trusted: the repair changes nothing that the model saw, and the evaluator
gives the recorded verdict when it judges the run under the unchanged ground truth.
"""

from collections.abc import Iterable, Iterator, Mapping

from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import Environment, ExecutionError, UnavailableError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

SEEN = {
    "user": "what the user says",
    "environment": "the tools, the policy or the shared state",
    "initial_state": "the initial state",
    "hidden_tools": "the tools that are revealed later",
}
"""Parts of a task that a run depends on, in words; a run under other ones would be another run."""


class RescoredRun(Record):
    """A recorded run of a repaired task."""

    run_id: str
    """Run."""
    task_id: str
    """Task."""
    before: bool
    """Recorded verdict."""
    after: bool | None
    """Verdict under the changed ground truth; None where there is none."""
    reason: str = ""
    """Why there is none; empty where there is one."""
    evaluator: str = ""
    """What judged it; empty for a run that fails under any ground truth."""


def rescore(
    before: Mapping[str, AgentTask],
    after: Mapping[str, AgentTask],
    runs: Iterable[Trajectory],
    execution: Execution,
) -> Iterator[RescoredRun]:
    """Judge recorded runs of repaired tasks again.

    Args:
        before: the unchanged tasks, by id.
        after: the repaired tasks, by id.
        runs: their runs, with messages; runs without a verdict are left out.
        execution: whose code judges them.

    Yields:
        One record per run with a verdict.
    """
    for run in runs:
        if run.passed is None:
            continue
        one, other = before.get(run.task_id), after.get(run.task_id)
        if one is None or other is None:
            yield _without(run, "the repaired task cannot be read")
            continue
        try:
            yield _judged(run, one, other, execution)
        except (ExecutionError, UnavailableError) as error:
            yield _without(run, f"the evaluator failed: {error}")


def _judged(run: Trajectory, before: AgentTask, after: AgentTask, execution: Execution) -> RescoredRun:
    changed = [words for part, words in SEEN.items() if getattr(before, part) != getattr(after, part)]
    if changed:
        return _without(run, f"the repair changes {' and '.join(changed)}, so the run is one of another task")
    if run.status != "ok" and not run.passed:
        return _same(run)  # the agent broke the run: no ground truth lets it pass
    environment = _environment(before, execution)
    attempt = environment.attempt_of(run.messages)
    if attempt is None and not run.passed:
        return _same(run)  # it was cut off at a limit, where benchmarks score 0 in any case
    if attempt is None:
        return _without(run, "the recorded conversation was cut off, and yet it passed")
    if environment.evaluate(before, attempt).passed != run.passed:
        return _without(run, "under the unchanged ground truth the evaluator here gives another verdict than recorded")
    again = _environment(after, execution)
    verdict = again.evaluate(after, attempt)
    return RescoredRun(
        run_id=run.id, task_id=run.task_id, before=run.passed, after=verdict.passed, evaluator=again.label()
    )


def _environment(task: AgentTask, execution: Execution) -> Environment:
    environment = execution.environment_of(task)
    if not environment.reads_runs:
        raise UnavailableError(f"{environment.name} cannot judge recorded conversations here")
    return environment


def _same(run: Trajectory) -> RescoredRun:
    return RescoredRun(run_id=run.id, task_id=run.task_id, before=False, after=False)


def _without(run: Trajectory, reason: str) -> RescoredRun:
    return RescoredRun(run_id=run.id, task_id=run.task_id, before=bool(run.passed), after=None, reason=reason)
