"""The result of an audit: the one contract between the pipeline and every report."""

import inspect
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import ne
from pathlib import Path
from typing import TypeVar

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.suppressions import SuppressedFinding, Suppression
from agenthard.audit.decisions.tickets import Ticket
from agenthard.audit.decisions.verdicts import NO_VERDICTS, Verdicts
from agenthard.audit.detectors.base import DecidingKind, Detector
from agenthard.audit.leaderboard import ModelRow
from agenthard.audit.sources.base import FigureTable, NotRead, Quarantined, Version
from agenthard.audit.sources.formats.stored_tasks import index_of
from agenthard.taxonomy.categories import Taxonomy
from agenthard.taxonomy.finding import Finding, Level, Severity, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class CheckInfo(Record):
    """Identity and documentation of a check that was asked to run."""

    id: str
    """Stable kebab-case id."""
    title: str
    """What it looks for, in a few words."""
    version: str
    """Its version."""
    category: str
    """Usual taxonomy category of its findings."""
    severity: Severity
    """Usual severity."""
    tier: Tier
    """How sure it usually is."""
    level: Level = Level.TASK
    """Where the causes it finds usually have to be fixed."""
    deciding: DecidingKind | None = None
    """Kind of deciding check; None for one that cannot show a task to be sound."""
    why: str = ""
    """Why such a flaw matters for the score."""
    doc: str = ""
    """The rule, with an example that is flagged and one that is not."""

    @classmethod
    def of(cls, detector: Detector) -> "CheckInfo":
        """Describe a detector."""
        return cls(
            id=detector.id,
            title=detector.title,
            version=detector.version,
            category=detector.category,
            severity=detector.severity,
            tier=detector.tier,
            level=detector.level,
            deciding=detector.deciding,
            why=detector.why,
            doc=inspect.getdoc(type(detector)) or "",
        )


@dataclass(frozen=True)
class AuditResult:
    """Everything a report shows. The constructor checks that its parts are consistent.

    Raises:
        ValueError: when a task has no decision, or a finding or a row of the coverage names an unknown task, check or
            category.
    """

    source: str
    """Word for the benchmark on the command line, such as bfcl."""
    title: str
    """Name of the benchmark for people."""
    version: Version
    """Release that was read."""
    root: Path
    """Folder that origins are relative to. Read for line numbers, never written into a report."""
    tasks: Sequence[AgentTask]
    """All tasks that could be read, in the benchmark's order."""
    quarantined: Sequence[Quarantined]
    """Records that could not be read."""
    findings: Sequence[Finding]
    """All findings."""
    coverage: CoverageTable
    """One row per task and check, ordered by task."""
    decisions: Sequence[Decision]
    """One per task, in the order of ``tasks``."""
    checks: Sequence[CheckInfo]
    """Checks that were asked to run, in the order of the taxonomy's components."""
    taxonomy: Taxonomy
    """Categories that findings refer to."""
    policy: str
    """Text of the decision policy."""
    suppressed: Sequence[SuppressedFinding] = ()
    """Findings that the user has accepted until a day, or that people have rejected; they are in no other figure."""
    people: Verdicts = NO_VERDICTS
    """What people say about tasks and findings."""
    expired: Sequence[Suppression] = ()
    """Suppressions whose last day has passed: what they name counts again."""
    not_asked: Sequence[str] = ()
    """Checks that the user's choice leaves out; experimental checks that are off are not among them."""
    not_read: Sequence[NotRead] = ()
    """Files in the benchmark's folder that look like tasks and were not read."""
    tickets: Sequence[Ticket] = ()
    """Shared causes, the one with the greatest effect on the score first."""
    models: Sequence[ModelRow] = ()
    """Accuracy per model; empty when no runs were given."""
    figures: Sequence[FigureTable] = ()
    """The benchmark's own figures of the runs; empty when it has none, or no runs were given."""
    cited_runs: Mapping[str, Trajectory] = field(default_factory=dict)
    """Runs that evidence quotes, by id."""
    software: Mapping[str, str] = field(default_factory=dict)
    """Versions of what ran, by name; ``agenthard`` among them."""
    seed: int | None = None
    """Seed of the run; None when nothing was drawn at random."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further options of the run that a reader needs to repeat it, by name."""
    mapping_doubts: Sequence[str] = ()
    """Why the mapping with which the benchmark was read looks wrong; empty when it does not."""

    def __post_init__(self) -> None:
        ids = index_of(self.tasks).ids
        if len(self.tasks) != len(self.task_ids) or any(map(ne, self.task_ids, ids)):
            raise ValueError("decisions must name every task once, in the order of the tasks")
        self._require("task", self.position, (i for f in self.findings for i in (*f.task_ids, *f.also_in)))
        self._require("task", self.position, self.coverage.tasks)
        self._require("check", self.check, (f.check for f in self.findings))
        self._require("check", self.check, self.coverage.checks)
        categories = {category.id for category in self.taxonomy.categories}
        self._require("category", categories, (f.category for f in self.findings))

    @staticmethod
    def _require(what: str, known: Container[str], used: Iterable[str]) -> None:
        unknown = sorted({each for each in used if each not in known})
        if unknown:
            raise ValueError(f"findings or coverage name the unknown {what} {unknown[0]!r} ({len(unknown)} in all)")

    @cached_property
    def task_ids(self) -> tuple[str, ...]:
        """Ids of the tasks, in their order."""
        return tuple(decision.task_id for decision in self.decisions)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Position of each task in ``tasks`` and ``decisions``, by id."""
        if self.task_ids == self.coverage.tasks:
            return self.coverage.row
        return {task_id: number for number, task_id in enumerate(self.task_ids)}

    @property
    def task(self) -> "ById[AgentTask]":
        """Tasks by id."""
        return ById(self.tasks, self.position)

    @property
    def decision(self) -> "ById[Decision]":
        """Decisions by task id."""
        return ById(self.decisions, self.position)

    @cached_property
    def check(self) -> dict[str, CheckInfo]:
        """Checks by id."""
        return {check.id: check for check in self.checks}


Item = TypeVar("Item")


@dataclass(frozen=True)
class ById(Mapping[str, Item]):
    """A view on a sequence with one item per task, by the id of the task."""

    items_in_order: Sequence[Item]
    """The items."""
    position: Mapping[str, int]
    """Position of each task."""

    def __getitem__(self, task_id: str) -> Item:
        return self.items_in_order[self.position[task_id]]

    def __contains__(self, task_id: object) -> bool:
        return task_id in self.position

    def __iter__(self) -> Iterator[str]:
        return iter(self.position)

    def __len__(self) -> int:
        return len(self.position)
