"""An audited run as its reviewers see it: findings, decisions, tasks one by one, and what people have said so far."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import UUID

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.verdicts import NO_VERDICTS
from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.flows.audit_plan import AuditInput, AuditPlan
from agenthard.flows.errors import CommandError
from agenthard.flows.review.decide import ReviewedRun, work_of
from agenthard.flows.review.events import Event, Key
from agenthard.flows.review.state import ItemState, ReviewState
from agenthard.flows.review.store import EventStore
from agenthard.flows.run_findings import did_you_mean
from agenthard.flows.run_folder import RunFolder
from agenthard.reports.instance import Instances
from agenthard.reports.places import Places
from agenthard.reports.result import ById
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.finding import Evidence, Finding
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

DESCRIBED = 64
"""Tasks whose descriptions are kept in memory."""


@dataclass(frozen=True)
class _Shown:
    """What describing tasks needs of an audit (`agenthard.reports.instance.Described`)."""

    root: Path
    task: Mapping[str, AgentTask]
    findings: Sequence[Finding]
    decision: Mapping[str, Decision]
    cited_runs: Mapping[str, Trajectory] = field(default_factory=dict)


class OpenRun:
    """One audit under review. Its methods may be called from several threads."""

    def __init__(self, folder: Path, name: str, store: EventStore) -> None:
        """Read the audit and its events.

        Args:
            folder: run folder of a finished audit.
            name: name of the audit, as its events have it.
            store: its events.

        Raises:
            CommandError: the folder holds no finished audit, or the benchmark is gone or has changed.
        """
        self.folder, self.name, self.store = folder, name, store
        self.audit = ReviewedRun(folder)
        self.source = self.audit.audited.open_unchanged()
        self.findings = {finding.id: finding for finding in self.audit.findings}
        ids = (decision.task_id for decision in self.audit.decisions)
        self._position = {task_id: number for number, task_id in enumerate(ids)}
        self.decisions: Mapping[str, Decision] = ById(self.audit.decide(NO_VERDICTS), self._position)
        """What the checks and judges led to, without the verdicts of people."""
        self.taxonomy = load_taxonomy()
        self._lock, self._reading = RLock(), RLock()
        self._stored: dict[UUID, Event] = {}
        self._log: list[Event] = []
        self.contents: Mapping[Key, str] = self.audit.contents
        """Hash of each task and finding as it is now."""
        self._state = ReviewState((), self.contents)
        self.described = lru_cache(DESCRIBED)(self._describe)
        self.refresh()

    @cached_property
    def findings_of(self) -> dict[str, list[Finding]]:
        """Findings that affect each task."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings.values():
            for task_id in finding.task_ids:
                found.setdefault(task_id, []).append(finding)
        return found

    @cached_property
    def titles(self) -> dict[str, str]:
        """Title of each check."""
        return {check["id"]: check["title"] for check in self.audit.report["checks"]}

    def require(self, key: Key) -> None:
        """Check that the audit has a task or finding.

        Raises:
            CommandError: it has not; the message names the nearest id.
        """
        what, name = key
        known: Mapping[str, Any] = self._position if what == "task" else self.findings
        if name not in known:
            near = did_you_mean(name, known)
            raise CommandError(f"the audit {self.name} has no {what} {name!r}{near}")

    def task(self, task_id: str) -> AgentTask:
        """Read one task."""
        with self._reading:
            return AuditInput(self.audit.audited.settings, self.source).tasks[self._position[task_id]]

    # What people have said

    def refresh(self) -> None:
        """Read the events that were stored since the last call, by this process or another."""
        with self._lock:
            self._add(list(self.store.since(self._state.seq, self.name)))

    def _add(self, new: Sequence[Event]) -> None:
        self._state.add(new)
        self._log += new
        self._stored.update((event.id, event) for event in new)

    def events_after(self, seq: int) -> list[Event]:
        """Return the events behind a place in the order of the store."""
        with self._lock:
            return self._log[bisect_right(self._log, seq, key=lambda event: event.seq or 0) :]

    def append(self, events: Sequence[Event]) -> list[Event]:
        """Store events. When this returns, they are on disk."""
        stored = self.store.append(events)
        with self._lock:
            new = [event for event in stored if event.id not in self._stored]
            following = list(range(self._state.seq + 1, self._state.seq + len(new) + 1))
            if [event.seq for event in new] == following:
                self._add(new)
            else:  # others have stored something in between
                self.refresh()
        return stored

    def stored(self, identity: UUID) -> Event | None:
        """Return the stored event with an id."""
        with self._lock:
            return self._stored.get(identity)

    def item(self, key: Key) -> ItemState:
        """Return what people have said about a task or finding."""
        with self._lock:
            return self._state.item(key)

    def history(self, key: Key) -> tuple[Event, ...]:
        """Return all events about a task or finding."""
        with self._lock:
            return self._state.history(key)

    @property
    def state(self) -> ReviewState:
        """What all events add up to. It changes when events arrive; hold `lock` while reading much of it."""
        return self._state

    @property
    def lock(self) -> RLock:
        """Keeps other threads from adding events."""
        return self._lock

    def has_seen(self, reviewer: str, task_id: str) -> bool:
        """Tell whether a reviewer was shown what checks say about a task: by unfolding it, by a verdict, by a cause."""
        seen = ("reveal", "verdict", "finding_verdict", "adjudication", "repair")
        about = [("task", task_id), *(("finding", finding.id) for finding in self.findings_of.get(task_id, ()))]
        return any(
            event.by == reviewer and event.kind in seen
            for key in about
            for event in self.history(key)  # type: ignore[arg-type]
        )

    # Tasks as they are shown

    def _describe(self, task_id: str, blind: bool) -> dict[str, Any]:
        """Describe a task for `renderInstance`: see `Instances.describe`; blocks are numbers into ``blocks``."""
        with self._reading:
            instances = self._instances(task_id, blind)
            shown = instances.describe(self.task(task_id), self._runs(task_id), self._replay(task_id))
        if blind:
            shown |= {"action": "", "reasons": []}
        blocks = [block for part in shown["parts"] for block in part["blocks"]]
        numbers = iter(range(len(blocks)))
        parts = [part | {"blocks": [next(numbers) for _ in part["blocks"]]} for part in shown["parts"]]
        return {"task": shown | {"parts": parts}, "blocks": blocks}

    def messages(self, task_id: str, trajectory_id: str, start: int, blind: bool, **limits: int) -> dict[str, Any]:
        """Describe messages of a run of a task from a place on; see `agenthard.reports.instance_runs`.

        Raises:
            CommandError: the task has no such run.
        """
        with self._reading:
            run = next(iter(self._runs(task_id, (trajectory_id,))), None)
            if run is None:
                raise CommandError(f"{task_id}: has no run {trajectory_id!r}")
            return self._instances(task_id, blind).messages(run, start, **limits)

    @cached_property
    def _places(self) -> Places:
        return Places(_Shown(self._root, _Tasks(self), (), self.decisions))

    @cached_property
    def _named_by(self) -> dict[str, list[Finding]]:
        """Findings that name each task: those that affect it, and those that only mention it."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings.values():
            quoted = (item.task_id for item in finding.evidence)
            for task_id in dict.fromkeys((*finding.task_ids, *finding.also_in, *quoted)):
                found.setdefault(task_id, []).append(finding)
        return found

    def _instances(self, task_id: str, blind: bool) -> Instances:
        """Return what describes one task; finding the quotes of all others in the files would take seconds."""
        shown = () if blind else tuple(self._named_by.get(task_id, ()))
        return Instances(_Shown(self._root, _Tasks(self), shown, self.decisions), self._places)

    def quote(self, evidence: Evidence) -> dict[str, str]:
        """Describe a quote: ``place``, the text ``before``, the ``text`` itself, the text ``after``, ``note``."""
        with self._reading:
            places = self._places
            shown, place = places.excerpt(evidence), places.of(evidence)
        return {
            **{"before": shown.before, "text": shown.quote, "after": shown.after},
            **{"place": str(place or ""), "note": evidence.note},
        }

    @property
    def _root(self) -> Path:
        return self.source.folder or self.source.root

    @cached_property
    def _work(self) -> tuple[RunFolder, AuditPlan] | None:
        """The folder with runs and replays, and what was read; None where it was deleted."""
        try:
            return work_of(self.audit)
        except CommandError:
            return None

    def _runs(self, task_id: str, ids: Sequence[str] | None = None) -> list[Trajectory]:
        if self._work is None or not self._work[1].runs:
            return []
        folder, plan = self._work
        runs = folder.runs(plan.shard_of(self._position[task_id]), ids)
        return [run for run in runs if run.task_id == task_id]

    def _replay(self, task_id: str) -> ShownReplay | None:
        if self._work is None:
            return None
        folder, plan = self._work
        path = folder.replays_file(plan.shard_of(self._position[task_id]))
        if not path.is_file():
            return None
        with path.open("rb") as lines:
            replays = map(ShownReplay.model_validate_json, lines)
            return next((replay for replay in replays if replay.task_id == task_id), None)

    def __len__(self) -> int:
        return len(self._position)


class _Tasks(Mapping[str, AgentTask]):
    """The tasks of a run, read one by one."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run

    def __getitem__(self, task_id: str) -> AgentTask:
        return self._run.task(task_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.decisions)

    def __len__(self) -> int:
        return len(self._run)
