"""The result of an audit in Python: findings, decisions and coverage, as records and as data frames."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agenthard.audit.coverage import RAN, CoverageTable
from agenthard.audit.decisions.policy import Decision, Policy
from agenthard.audit.decisions.split import ACTIONS, split_id_of
from agenthard.audit.decisions.suppressions import SuppressedFinding, Suppression
from agenthard.audit.leaderboard import ModelRow
from agenthard.audit.sources.base import NotRead, Quarantined, Version, count_not_read
from agenthard.flows.audit_plan import AuditInput, AuditPlan
from agenthard.flows.errors import UsageError
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_spool import RunSpool
from agenthard.flows.shard_worker import CheckedShard, write_shard
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.finding import Coverage, Finding, Status, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas

    from agenthard.flows.judging.publish import JudgingOutcome
    from agenthard.reports.result import AuditResult as ReportData


class CheckResult(NamedTuple):
    """What checks found in one task."""

    findings: tuple[Finding, ...]
    """Flaws."""
    coverage: tuple[Coverage, ...]
    """One row per check: flagged, clean, not_checked (with the reason) or error."""


@dataclass(frozen=True)
class AuditWork:
    """What an audit in memory is written from."""

    given: AuditInput
    """What was audited and how."""
    plan: AuditPlan
    """What was read."""
    policy: Policy
    """The policy behind the decisions."""
    shards: Sequence[CheckedShard]
    """Checked shards, in order."""
    runs: Sequence[Sequence[Trajectory]]
    """Runs of each shard, in order."""
    report: "ReportData"
    """What reports are made from."""

    def all_runs(self) -> Iterator[Trajectory]:
        """Stream the runs in task order."""
        for runs in self.runs:
            yield from runs


@dataclass(repr=False)
class AuditResult:
    """The result of an audit. `agenthard.audit` makes one, `AuditResult.read` reads one from a run folder.

    Everything that could not be read or checked is in it: see `not_read`, `quarantined` and `errors`. ``print(result)``
    shows the figures that the command prints.
    """

    source: str
    """Name of the source, such as tau-bench."""
    title: str
    """Name of the benchmark for people."""
    version: Version
    """Release that was read."""
    policy: Policy
    """The policy behind the decisions."""
    findings: Sequence[Finding]
    """All findings: flaws with their evidence and the tasks they touch."""
    coverage: CoverageTable
    """One row per task and check: a sequence, whose rows are made when they are read."""
    decisions: Sequence[Decision]
    """One per task: keep, unchecked, review or drop, with the reasons."""
    quarantined: Sequence[Quarantined]
    """Records that could not be read."""
    not_read: Sequence[NotRead]
    """What looks like tasks in the benchmark's folder and was not read."""
    runs: Sequence[ModelRow]
    """One row per model and experiment: runs, passed, infrastructure errors, accuracy. Empty without runs."""
    isolation: str
    """What contained benchmark code that was executed."""
    mapping_doubts: Sequence[str] = ()
    """Why the mapping with which the benchmark was read looks wrong; empty when it does not."""
    suppressed: Sequence[SuppressedFinding] = ()
    """Findings that do not count until a day, with the reason; they are in no other figure."""
    expired: Sequence[Suppression] = ()
    """Suppressions whose last day has passed: what they name counts again."""
    not_asked: Sequence[str] = ()
    """Checks that ``select`` and ``ignore`` leave out."""
    folder: Path | None = field(default=None, compare=False)
    """Run folder that holds the result; None before `write`."""
    judging: "JudgingOutcome | None" = field(default=None, compare=False)
    """Figures of the judging, in the result of `agenthard.judge`."""
    _work: AuditWork | None = field(default=None, compare=False)

    @classmethod
    def read(cls, folder: str | Path) -> "AuditResult":
        """Read a run folder that `agenthard audit`, `agenthard judge` or `write` has written.

        Raises:
            CommandError: when the folder holds no finished audit.
        """
        from agenthard.flows.audited_run import (
            read_audited,
            read_coverage,
            read_decisions,
            read_quarantined,
            read_report,
        )

        root = Path(folder)
        report = read_report(root)
        benchmark = report["benchmark"]
        return cls(
            source=benchmark.pop("source"),
            title=benchmark.pop("title"),
            version=Version.model_validate(benchmark),
            policy=read_audited(root, None).policy,
            findings=tuple(map(Finding.model_validate, report["findings"])),
            coverage=read_coverage(root),
            decisions=tuple(read_decisions(root)),
            quarantined=tuple(read_quarantined(root)),
            not_read=tuple(map(NotRead.model_validate, report["not_read"])),
            runs=tuple(map(ModelRow.model_validate, report["models"])),
            isolation=report["settings"]["isolation"],
            mapping_doubts=tuple(report.get("mapping_doubts", ())),
            suppressed=tuple(map(SuppressedFinding.model_validate, report["suppressed"])),
            expired=tuple(map(Suppression.model_validate, report.get("expired", ()))),
            not_asked=tuple(report.get("not_asked", ())),
            folder=root,
        )

    @classmethod
    def of(cls, work: AuditWork) -> "AuditResult":
        """Make the result of an audit in memory."""
        report = work.report
        return cls(
            source=report.source,
            title=report.title,
            version=report.version,
            policy=work.policy,
            findings=tuple(report.findings),
            coverage=report.coverage,
            decisions=tuple(report.decisions),
            quarantined=tuple(report.quarantined),
            not_read=tuple(report.not_read),
            runs=tuple(report.models),
            isolation=report.settings["isolation"],
            mapping_doubts=tuple(report.mapping_doubts),
            suppressed=tuple(report.suppressed),
            expired=tuple(report.expired),
            not_asked=tuple(report.not_asked),
            _work=work,
        )

    def write(self, folder: str | Path) -> Path:
        """Write the run folder that `agenthard audit` writes: report, split, tables, SARIF.

        Returns:
            The folder.

        Raises:
            RunFolderError: when the folder holds something else, or another process writes into it.
        """
        root = Path(folder)
        if self._work is None:
            _copy(self._require_folder("copy"), root)
        else:
            _write(self._work, root)
        self.folder = root
        return root

    @cached_property
    def tasks(self) -> Sequence[AgentTask]:
        """All tasks, in the benchmark's order. A result that was read from a folder reads the benchmark again.

        Raises:
            CommandError: when the benchmark is not where it was audited any more, or has changed.
        """
        if self._work is not None:
            return self._work.report.tasks
        from agenthard.flows.audited_run import read_audited

        audited = read_audited(self._require_folder("read tasks"), None)
        return AuditInput(audited.settings, audited.open_unchanged()).tasks

    @property
    def errors(self) -> Sequence[Coverage]:
        """The (task, check) pairs that ended in an error, with the reason."""
        rows = (row for task in self.coverage.tasks_having(Status.ERROR) for row in self.coverage.of_task(task))
        return [row for row in rows if row.status is Status.ERROR]

    @property
    def kept_ids(self) -> Sequence[str]:
        """Ids of the tasks in the cleaned split: all that the policy does not drop."""
        return [decision.task_id for decision in self.decisions if decision.action != "drop"]

    @property
    def split_id(self) -> str:
        """Id of the cleaned split: equal benchmark, policy and kept tasks give an equal id."""
        return split_id_of(self.version, self.policy, self.kept_ids)

    def findings_frame(self) -> "pandas.DataFrame":
        """Return the findings, one row each, with the columns of ``tables/findings.parquet``."""
        return self._frame("findings")

    def decisions_frame(self) -> "pandas.DataFrame":
        """Return the decisions, one row per task, with the columns of ``tables/decisions.parquet``."""
        return self._frame("decisions")

    def coverage_frame(self) -> "pandas.DataFrame":
        """Return the coverage, one row per task and check, with the columns of ``tables/coverage.parquet``."""
        return self._frame("coverage")

    def tasks_frame(self) -> "pandas.DataFrame":
        """Return the tasks, one row each, with the columns of ``tables/tasks.parquet``."""
        return self._frame("tasks")

    def _frame(self, name: str) -> "pandas.DataFrame":
        import pyarrow
        import pyarrow.parquet

        if self._work is None:
            found = pyarrow.parquet.read_table(self._require_folder("read tables") / "tables" / f"{name}.parquet")
        else:
            from agenthard.reports.coverage_parquet import coverage_batches
            from agenthard.reports.tables import tables_of

            tables = tables_of(self._work.report, ())
            table, records = next(each for each in tables if each[0].name == name)
            whole = coverage_batches(self.coverage) if name == "coverage" else [table.batch(records)]
            found = pyarrow.Table.from_batches(whole, schema=table.schema)
        frame: pandas.DataFrame = found.to_pandas()
        return frame

    def _choices(self) -> list[str]:
        from agenthard.reports.choices import choice_lines

        suppressed, expired = ([each.words for each in group] for group in (self.suppressed, self.expired))
        return choice_lines(suppressed, expired, self.not_asked)

    def _require_folder(self, what: str) -> Path:
        if self.folder is None:
            raise UsageError(f"cannot {what}: the result is in memory only; call result.write(FOLDER) first")
        return self.folder

    def __repr__(self) -> str:
        quarantined = sum(item.kind == "task" for item in self.quarantined)
        not_read, left_out = count_not_read(self.not_read)
        checked = len(self.coverage.tasks_having(*RAN))
        tiers, actions = (Counter(f.tier for f in self.findings), Counter(d.action for d in self.decisions))
        total = len(self.decisions)
        unknown = any(item.tasks is None for item in self.not_read)
        lines = [
            f"{self.title} ({self.source} {self.version.label} {self.version.content_hash}): {total:,} tasks read",
            f"  checked {checked:,}, not checked {total - checked:,}; quarantined {quarantined:,}, "
            f"not read {'at least ' if unknown else ''}{not_read:,}, left out {left_out:,}; "
            f"{len(self.errors):,} checks ended in an error",
            f"  findings: {', '.join(f'{tiers[tier]:,} {tier.value}' for tier in Tier)}",
            f"  decisions: {', '.join(f'{action} {actions[action]:,}' for action in ACTIONS)} of {total:,}; "
            f"cleaned split {self.split_id} with {len(self.kept_ids):,} tasks",
        ]
        lines += [f"  this looks like a wrong mapping: {doubt}" for doubt in self.mapping_doubts]
        lines += [f"  {line}" for line in self._choices()]
        if self.runs:
            runs, errors = (sum(getattr(row, name) for row in self.runs) for name in ("runs", "infrastructure_errors"))
            lines.append(f"  runs: {runs:,} of {len(self.runs):,} models and experiments; {errors:,} not scored")
        if self.judging is not None:
            stopped = f"; stopped: {self.judging.stopped}" if self.judging.stopped else ""
            lines.append(f"  judges: {self.judging.answered:,} of {self.judging.questions:,} questions{stopped}")
        lines.append(f"  run folder: {self.folder or 'not written'}")
        return "\n".join(lines)


def _write(work: AuditWork, root: Path) -> None:
    from agenthard.flows.audit_outputs import Executed, write_audit

    folder = RunFolder(root)
    settings = work.given.settings.model_copy(update={"out": str(root)})
    with folder.hold():
        folder.claim(work.plan.key)
        spool = RunSpool(folder.spool)
        for number, (shard, runs) in enumerate(zip(work.shards, work.runs, strict=True)):
            for run in runs:
                spool.add(number, run)
            write_shard(folder, number, shard)
        spool.finish()
        write_atomically(folder.work / "settings.json", settings.model_dump_json().encode("utf-8"))
        write_atomically(folder.work / "plan.json", work.plan.model_dump_json().encode("utf-8"))
        executed = Executed(work.all_runs, (replay for shard in work.shards for replay in shard.replays))
        write_audit(work.report, folder, work.given, work.plan, work.policy, executed)


def _copy(source: Path, target: Path) -> None:
    if target.resolve() == source.resolve():
        return
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target}: not empty; give the name of a new folder")
    with RunFolder(source).read():
        shutil.copytree(source, target, dirs_exist_ok=True)
