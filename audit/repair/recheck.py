"""Re-checks a changed task: are checks, replay and evaluator better after the change than before?"""

from collections.abc import Sequence
from itertools import chain

from agenthard.audit.conclude import conclude
from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Detector, Observation, SuiteDetector
from agenthard.audit.execution.context import Execution, current_execution
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.shards import ShardResult, check_shard, hash_shared_keys
from agenthard.taxonomy.finding import Coverage, Finding, Severity, Status, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask


class GoldRun(Record):
    """Replay of a ground truth and its verdict."""

    not_replayed: str = ""
    """Why its calls were not replayed; empty when they were."""
    failing_calls: int = 0
    """Number of its calls that fail."""
    not_evaluated: str = ""
    """Why it was not evaluated; empty when it was."""
    accepted: bool | None = None
    """Whether the evaluator accepts it."""


class TaskState(Record):
    """What all checks find on one task."""

    findings: tuple[Finding, ...]
    """Findings that touch it."""
    coverage: tuple[Coverage, ...]
    """What each check did."""
    gold: GoldRun
    """Replay and verdict."""

    def ran(self) -> set[str]:
        """Return the ids of the checks that finished."""
        return {row.check for row in self.coverage if row.status in (Status.CLEAN, Status.FLAGGED)}


class Recheck(Record):
    """Result of re-checking a changed task."""

    reason: str = ""
    """Why the change is rejected; empty when it is accepted."""
    gone: tuple[str, ...] = ()
    """Ids of all findings that an accepted change removes: the one that it repairs, and those that followed from it."""
    checks_run: int
    """Checks that ran on the changed task."""
    not_checked: dict[str, str]
    """Checks that could not run on the changed task, with the reason; they could not run before either."""
    errors: tuple[str, ...] = ()
    """Checks that ended in an error on the changed task, as they did before the change."""
    before: GoldRun
    """Replay and verdict before the change."""
    after: GoldRun
    """Replay and verdict after it."""


class TaskChecker:
    """Checks single tasks, alone and in comparison with all other tasks."""

    def __init__(
        self,
        benchmark: str,
        tasks: Sequence[AgentTask],
        detectors: Sequence[Detector],
        observed: Sequence[ShardResult] | None = None,
        execution: Execution | None = None,
    ) -> None:
        """Prepare the comparison of tasks.

        Args:
            benchmark: name of the source.
            tasks: all tasks, unchanged.
            detectors: all checks.
            observed: observations of an audit of exactly these tasks by exactly these checks; None = they are made now.
            execution: whose code executes the tasks; None = the active one.
        """
        self._benchmark = benchmark
        self._execution = execution or current_execution()
        self._order = {task.id: i for i, task in enumerate(tasks)}
        self._needs_runs = [d.id for d in detectors if isinstance(d, SuiteDetector) and d.needs_runs]
        self._suite = [d for d in detectors if isinstance(d, SuiteDetector) and not d.needs_runs]
        self._single = [d for d in detectors if not isinstance(d, SuiteDetector)]
        shards = observed if observed is not None else [check_shard(tasks, {}, self._suite, self._execution)]
        names = {detector.id for detector in self._suite}
        self._notes: dict[str, list[Observation]] = {
            name: list(chain.from_iterable(shard.observations.get(name, ()) for shard in shards)) for name in names
        }
        ids, checks = list(self._order), [detector.id for detector in self._suite]
        self._coverage = CoverageTable.merged(ids, checks, (shard.coverage for shard in shards))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Ids of the checks that need runs, which were made with the unchanged task."""
        return tuple(self._needs_runs)

    def check(self, task: AgentTask) -> TaskState:
        """Run all checks that need no runs on a task, which replaces the one with the same id."""
        alone = check_shard([task], {}, self._single, self._execution)
        findings, coverage = conclude(self._benchmark, [task.id], [alone], self._single)
        suite = check_shard([task], {}, self._suite, self._execution)
        notes = {name: self._replaced(name, task.id, suite) for name in self._notes}
        others = ShardResult(
            coverage=self._coverage.updated(suite.coverage),
            observations=notes,
            shared_keys=hash_shared_keys(self._suite, notes),
        )
        compared, rows = conclude(self._benchmark, list(self._order), [others], self._suite)
        with self._execution.active():
            gold = run_gold(task)
        return TaskState(
            findings=(*findings, *(found for found in compared if task.id in found.task_ids)),
            coverage=(*coverage, *rows.of_task(task.id)),
            gold=gold,
        )

    def _replaced(self, name: str, task_id: str, suite: ShardResult) -> tuple[Observation, ...]:
        notes = [note for note in self._notes[name] if note.task_id != task_id]
        return tuple(sorted((*notes, *suite.observations.get(name, ())), key=lambda note: self._order[note.task_id]))


def compare(before: TaskState, after: TaskState, repaired_ids: Sequence[str]) -> Recheck:
    """Accept a change when its findings are gone, no check finds anything new, and no check can no longer run.

    Args:
        before: the unchanged task.
        after: the changed task.
        repaired_ids: ids of the findings that the change should remove.
    """
    pairs, unmatched = _pair(before, after, repaired_ids)
    reasons = [
        *_flaws(before, pairs, unmatched, repaired_ids),
        *_no_longer_checked(before, after),
        *_worse_gold(before.gold, after.gold),
    ]
    found_again = {old.id for old, _ in pairs}
    return Recheck(
        reason=reasons[0] if reasons else "",
        gone=() if reasons else tuple(old.id for old in before.findings if old.id not in found_again),
        checks_run=len(after.ran()),
        not_checked={row.check: row.reason for row in after.coverage if row.status is Status.NOT_CHECKED},
        errors=tuple(row.check for row in after.coverage if row.status is Status.ERROR),
        before=before.gold,
        after=after.gold,
    )


def run_gold(task: AgentTask) -> GoldRun:
    """Replay and evaluate the ground truth of a task, as far as both are possible here."""
    try:
        not_replayed = why_not_replayed(task) or ""
        failing = 0
        if not not_replayed:
            failing = sum(step.observation.error is not None for step in gold_replay(task).steps)
    except ExecutionError as error:
        not_replayed, failing = str(error), 0
    try:
        attempt = Attempt(turns=gold_turns(task), replies=task.ground_truth.outputs)
        verdict = environment_of(task).evaluate(task, attempt)
    except (UnavailableError, ExecutionError) as error:
        return GoldRun(not_replayed=not_replayed, failing_calls=failing, not_evaluated=str(error))
    return GoldRun(not_replayed=not_replayed, failing_calls=failing, accepted=verdict.passed)


def _pair(
    before: TaskState, after: TaskState, repaired_ids: Sequence[str]
) -> tuple[list[tuple[Finding, Finding]], list[Finding]]:
    """Pair the findings that should stay with those after the change; also return the others after it."""
    unmatched = list(after.findings)
    pairs = []
    for old in (finding for finding in before.findings if finding.id not in repaired_ids):
        same = _same(old, unmatched)
        if same is not None:
            unmatched.remove(same)
            pairs.append((old, same))
    return pairs, unmatched


def _flaws(
    before: TaskState,
    pairs: Sequence[tuple[Finding, Finding]],
    unmatched: Sequence[Finding],
    repaired_ids: Sequence[str],
) -> list[str]:
    """Return what is wrong after a change: findings that are still there, new, or worse."""
    present = {finding.id for finding in before.findings}
    reasons = [
        f"the check does not find {name} on today's files; audit again" for name in repaired_ids if name not in present
    ]
    worse = [new for old, new in pairs if _rank(new) < _rank(old)]
    reasons += [f"{finding.check} finds it worse than before: {finding.claim}" for finding in worse]
    repaired = {(finding.check, finding.claim) for finding in before.findings if finding.id in repaired_ids}
    for finding in unmatched:
        still = finding.id in repaired_ids or (finding.check, finding.claim) in repaired
        what = "the flaw is still found after the change" if still else f"{finding.check} finds something new"
        reasons.append(f"{what}: {finding.claim}")
    return reasons


def _same(old: Finding, found: Sequence[Finding]) -> Finding | None:
    """Find a finding again by its claim, else by its id: a removed call shifts the place in the id."""
    by_words = next((new for new in found if (new.check, new.claim) == (old.check, old.claim)), None)
    return by_words or next((new for new in found if new.id == old.id), None)


def _rank(finding: Finding) -> tuple[int, int]:
    return list(Severity).index(finding.severity), list(Tier).index(finding.tier)


def _no_longer_checked(before: TaskState, after: TaskState) -> list[str]:
    status = {row.check: row for row in after.coverage}
    lost = [status[check] for check in sorted(before.ran() - after.ran()) if check in status]
    return [f"{row.check} can no longer check the task: {row.reason}" for row in lost]


def _worse_gold(before: GoldRun, after: GoldRun) -> list[str]:
    reasons = []
    if before.accepted is not None and after.accepted is None:
        reasons.append(f"the evaluator can no longer be asked: {after.not_evaluated}")
    if before.accepted and after.accepted is False:
        reasons.append("the evaluator rejects the changed ground truth")
    if not before.not_replayed and after.not_replayed:
        reasons.append(f"the changed ground truth can no longer be replayed: {after.not_replayed}")
    if after.failing_calls > before.failing_calls:
        reasons.append("more calls of the changed ground truth fail in its environment than before")
    return reasons
