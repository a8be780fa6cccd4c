"""Reading a finished audit: its findings, decisions and costs, its settings and policy, and its benchmark."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.decisions.policy import Decision, Policy
from agenthard.audit.detectors.measured import CheckCost
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import ShardResult
from agenthard.audit.sources.base import Quarantined, Source, Version
from agenthard.audit.sources.registry import open_source
from agenthard.flows.audit_plan import AuditInput, AuditPlan, AuditSettings
from agenthard.flows.errors import CommandError
from agenthard.flows.run_folder import RunFolder
from agenthard.reports.coverage_parquet import read_coverage_parquet
from agenthard.taxonomy.finding import Finding
from agenthard.taxonomy.record import Record


def _table_file(run: Path, name: str) -> Path:
    path = run / "tables" / f"{name}.parquet"
    if not path.is_file():
        raise CommandError(f"{run}: no finished audit here ({path.name} is missing); run `agenthard audit` first")
    return path


def _table(run: Path, name: str) -> list[dict[str, Any]]:
    with pyarrow.parquet.ParquetFile(_table_file(run, name)) as file:  # read_table would import pandas
        rows: list[dict[str, Any]] = file.read().to_pylist()
    return rows


def read_decisions(run: Path) -> list[Decision]:
    """Read the decisions, in the benchmark's order.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    fields = Decision.model_fields
    return [Decision.model_validate({k: v for k, v in row.items() if k in fields}) for row in _table(run, "decisions")]


def led_by_findings(run: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield task, action and findings of every decision that findings led to; a part of the table is in memory.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    with pyarrow.parquet.ParquetFile(_table_file(run, "decisions")) as file:
        for batch in file.iter_batches(10_000, columns=["task_id", "action", "finding_ids"]):
            for row in batch.to_pylist():
                if row["finding_ids"]:
                    yield row["task_id"], row["action"], row["finding_ids"]


def read_coverage(run: Path) -> CoverageTable:
    """Read what each check did on each task.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    return read_coverage_parquet(_table_file(run, "coverage"))


def read_findings(run: Path) -> list[Finding]:
    """Read the findings.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    return [Finding.model_validate(item) for item in read_report(run)["findings"]]


def read_report(run: Path) -> dict[str, Any]:
    """Read ``findings.json``.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    path = run / "findings.json"
    if not path.is_file():
        raise CommandError(f"{run}: no finished audit here ({path.name} is missing); run `agenthard audit` first")
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def read_quarantined(run: Path) -> list[Quarantined]:
    """Read which records could not be read.

    Raises:
        CommandError: when the folder holds no finished audit.
    """
    path = run / "quarantine.jsonl"
    if not path.is_file():
        raise CommandError(f"{run}: no finished audit here ({path.name} is missing); run `agenthard audit` first")
    return [Quarantined.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_costs(run: Path) -> dict[str, CheckCost]:
    """Read the cost of each check, by its id.

    Raises:
        CommandError: when the folder has no such figures (it holds no audit, or ``work/`` was deleted).
    """
    files = sorted((run / "work" / "costs").glob("*.json"))
    if not files:
        raise CommandError(f"{run}: the time of each check is not recorded here; audit into a new folder")
    tasks, seconds, executed = 0, Counter[str](), Counter[str]()
    for file in files:
        shard = json.loads(file.read_text(encoding="utf-8"))
        tasks += shard["tasks"]
        seconds.update(shard["seconds"])
        executed.update(shard.get("executed", {}))
    return {
        check: CheckCost(tasks=tasks, seconds=round(total, 3), executed=round(executed[check], 3))
        for check, total in seconds.items()
    }


def last_run_with_costs() -> Path | None:
    """Return the run folder whose audit ended last, of those in the current folder and up to two levels below it.

    Returns:
        None where no finished audit has recorded what checks took.
    """
    costs = [path for below in ("", "*/", "*/*/") for path in Path().glob(f"{below}work/costs/*.json")]
    finished = [run / "manifest.json" for run in {path.parents[2] for path in costs}]
    dated = [(file.stat().st_mtime_ns, str(file), file.parent) for file in finished if file.is_file()]
    return max(dated)[2] if dated else None


class Audited(Record):
    """A finished audit."""

    run: str
    """Run folder."""
    settings: AuditSettings
    """What was audited and how; the path is where the benchmark is now."""
    policy: Policy
    """Its policy."""
    version: Version
    """Release that was audited."""
    checks: dict[str, str]
    """Version of every check."""

    def open_unchanged(self) -> Source:
        """Open the benchmark.

        Raises:
            CommandError: it is gone, or other than it was.
        """
        path = Path(self.settings.path)
        if not path.exists():
            raise CommandError(f"{path}: the benchmark is not here any more; name its folder with --benchmark")
        source = self.settings.open()
        found = source.version().content_hash
        if found != self.version.content_hash:
            raise CommandError(
                f"{path}: the benchmark has changed since the audit (content {found}, audited "
                f"{self.version.content_hash}); audit it again, or name the audited folder with --benchmark"
            )
        return source

    def opener(self, source: Source) -> Callable[[Path], Source]:
        """Return what opens a copy of the folder of ``source`` as the audit opened the original."""
        if source.folder != source.root:
            return source.open_copy
        below = Path(self.settings.path).resolve().relative_to(source.root.resolve())
        return lambda root: open_source(self.settings.source, root / below, self.settings.domains)

    def observed(self) -> list[ShardResult] | None:
        """Return what the audit noted about all tasks, if just this version of AgentHard made it; else None."""
        folder = RunFolder(Path(self.run))
        if folder.holds_other_than(AuditInput(self.settings).key):
            return None
        plan = AuditPlan.model_validate_json((folder.work / "plan.json").read_bytes())
        return list(folder.shard_results(plan.shards))


def read_audited(run: Path, benchmark: str | None) -> Audited:
    """Read an audit.

    Args:
        run: run folder.
        benchmark: folder where the benchmark is now; None = where it was audited.

    Raises:
        CommandError: when the folder holds no finished audit, or its ``work/`` was deleted.
    """
    manifest_file, settings_file = run / "manifest.json", run / "work" / "settings.json"
    for path in (manifest_file, settings_file):
        if not path.is_file():
            raise CommandError(
                f"{run}: no finished audit here ({path.relative_to(run)} is missing); run `agenthard audit` first"
            )
    manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
    settings = AuditSettings.model_validate_json(settings_file.read_bytes())
    return Audited(
        run=str(run),
        settings=settings.model_copy(update={"path": benchmark}) if benchmark else settings,
        policy=Policy.model_validate(manifest["policy"]),
        version=Version.model_validate(manifest["benchmark"]),
        checks=manifest["checks"],
    )


def choose(findings: Sequence[Finding], ids: Sequence[str], checks: Sequence[str]) -> list[Finding]:
    """Choose findings by id and by check; nothing named means all.

    Raises:
        CommandError: when a finding or a check does not exist.
    """
    unknown = sorted(set(ids) - {finding.id for finding in findings})
    if unknown:
        raise CommandError(f"the audit has no finding {', '.join(unknown)}; its findings.json lists them")
    unknown = sorted(set(checks) - {detector.id for detector in detectors()})
    if unknown:
        raise CommandError(f"no check {', '.join(unknown)}; `agenthard checks` lists them")
    return [
        finding for finding in findings if (not ids or finding.id in ids) and (not checks or finding.check in checks)
    ]
