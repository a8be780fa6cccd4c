"""The audits of one benchmark that the server serves, the earliest first: what changed from each to the next."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Final

from agenthard.flows.review.history import (
    Change,
    HistoryRow,
    ItemChange,
    changes_between,
    history_of,
    verdicts_in_words,
)
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.reports.comparison.audits import AuditSide, load_side
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record

WHY: Final = {
    "judge": "The judge changed its verdict on tasks that did not change",
    "task": "The tasks changed",
    "task_set": "Tasks were added or removed",
    "check": "The check changed",
    "other": "Something else changed, such as options, runs or other findings",
}
"""What can explain a change, by its cause."""


class Changed(Record):
    """A finding that is not as it was in the run before."""

    finding: Finding
    """The finding, as the later run has it where it does."""
    change: ItemChange
    """What happened to it."""
    here: bool
    """Whether the later run has it."""


class Step(Record):
    """One run, compared with the one before."""

    name: str
    """Run."""
    version: str
    """Release of the benchmark, with its content hash."""
    tasks: int
    """Tasks."""
    findings: int
    """Findings that count."""
    counts: dict[Change, int]
    """Findings by what happened to them since the run before; empty for the first run."""
    drift: int
    """Of these, those that a judge explains: it changed its verdict on a task that did not change."""
    changed_tasks: int
    """Tasks with another content than before, added ones and removed ones included."""


class Series:
    """The served audits of one benchmark."""

    def __init__(self, runs: Sequence[OpenRun]) -> None:
        """Take audits of one benchmark, the earliest first."""
        self.runs = tuple(runs)
        self._lock = Lock()
        self._sides: dict[str, AuditSide] = {}
        self._changes: dict[str, dict[str, ItemChange]] = {}

    def side(self, run: OpenRun) -> AuditSide:
        """Read an audit for comparing; it is kept."""
        with self._lock:
            if run.name not in self._sides:
                self._sides[run.name] = load_side(run.folder)
            return self._sides[run.name]

    def before(self, run: OpenRun) -> OpenRun | None:
        """Return the run before; None for the first one."""
        place = self.runs.index(run)
        return self.runs[place - 1] if place else None

    def changes(self, run: OpenRun) -> Mapping[str, ItemChange]:
        """Return what happened to each finding since the run before, by its id; empty for the first run."""
        before = self.before(run)
        if before is not None and run.name not in self._changes:
            self._changes[run.name] = changes_between(self.side(before), self.side(run))
        return self._changes.get(run.name, {})

    def changed(self, run: OpenRun) -> list[Changed]:
        """Return the findings that are not as they were in the run before."""
        before = self.before(run)
        older = self._known(before) if before else {}
        now = self._known(run)
        return [
            Changed(finding=now.get(identity) or older[identity], change=change, here=identity in now)
            for identity, change in self.changes(run).items()
            if change.change != "persisted" and (identity in now or identity in older)
        ]

    def _known(self, run: OpenRun) -> dict[str, Finding]:
        audit = self.side(run).audit
        return {each.id: each for each in (*(each.finding for each in audit.suppressed), *audit.findings)}

    def finding(self, identity: str) -> Finding | None:
        """Return a finding as the last run that has it describes it; None when no run has it."""
        return next((known[identity] for run in reversed(self.runs) if identity in (known := self._known(run))), None)

    def step(self, run: OpenRun) -> Step:
        """Describe a run and what changed since the one before."""
        side, before = self.side(run), self.before(run)
        changes = self.changes(run)
        return Step(
            name=run.name,
            version=f"{side.audit.audit.benchmark} {side.audit.audit.content_hash}",
            tasks=len(side.contents),
            findings=len(side.audit.findings),
            counts=dict(Counter(change.change for change in changes.values())),
            drift=sum(change.cause == "judge" for change in changes.values()),
            changed_tasks=_differing(self.side(before).contents, side.contents) if before else 0,
        )

    @cached_property
    def steps(self) -> list[Step]:
        """Every run with what changed since the one before."""
        return [self.step(run) for run in self.runs]

    def history(self, identity: str) -> list[HistoryRow]:
        """Follow a finding through the runs."""
        said = [verdicts_in_words(run.item(("finding", identity))) for run in self.runs]
        rows = history_of([self.side(run) for run in self.runs], identity, said)
        return [row.model_copy(update={"run": run.name}) for row, run in zip(rows, self.runs, strict=True)]


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> int:
    return sum(before.get(task_id) != now.get(task_id) for task_id in {*before, *now})


def series_of(runs: Iterable[OpenRun]) -> dict[str, Series]:
    """Group audits by their benchmark.

    Returns:
        The series of each audit, by the name of the audit.
    """
    groups: dict[str, list[OpenRun]] = {}
    for run in runs:
        groups.setdefault(run.source.name, []).append(run)
    made = [Series(group) for group in groups.values()]
    return {run.name: series for series in made for run in series.runs}
