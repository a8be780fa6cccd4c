"""Re-scoring stored runs on a repaired split: opens the audit, its benchmark and the repairs; evaluators judge."""

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from agenthard.audit.decisions.repaired_split import RepairedSplitManifest
from agenthard.audit.repair.repairs import changed_copy
from agenthard.audit.repair.rescoring import RescoredRun, rescore
from agenthard.audit.sources.base import SourceError
from agenthard.flows.audited_run import read_audited, read_decisions
from agenthard.flows.errors import CommandError
from agenthard.reports.cleaning.inputs import RUN_COLUMNS
from agenthard.reports.kit.load import load_json, table_file
from agenthard.reports.leaderboard.rescored import repaired_runs
from agenthard.reports.leaderboard.scored import RepairedRuns
from agenthard.taxonomy.task import Message
from agenthard.taxonomy.trajectory import Trajectory


def rescored_runs(
    runs: Sequence[Path], repairs: Sequence[Path], benchmark: Path | None = None
) -> dict[Path, RepairedRuns]:
    """Judge the recorded runs of repaired tasks again, for each audit that has a repaired split.

    Args:
        runs: run folders of audits.
        repairs: folders that `agenthard repair` wrote; each belongs to the audits of the same release.
        benchmark: folder of the benchmark; None = where it was audited.

    Returns:
        The repaired split by run folder. Where the benchmark cannot be opened, all runs of repaired tasks are without a
        verdict, with the reason.

    Raises:
        CommandError: a folder holds no repaired split, belongs to none of the audits, or was made from other decisions.
    """
    found: dict[Path, RepairedRuns] = {}
    for folder in repairs:
        manifest = _manifest(folder)
        own = [run for run in runs if _is_of(run, manifest)]
        if not own:
            raise CommandError(
                f"{folder}: repairs {manifest.source} {manifest.benchmark.label} (content "
                f"{manifest.benchmark.content_hash}), which none of the runs audited"
            )
        for run in own:
            found[run] = _of_run(run, folder, manifest, benchmark)
    return found


def _manifest(folder: Path) -> RepairedSplitManifest:
    path = folder / "repaired" / "manifest.json"
    if not path.is_file():
        raise CommandError(
            f"{folder}: no repaired split here (repaired/manifest.json is missing); run `agenthard repair`"
        )
    try:
        return RepairedSplitManifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise CommandError(f"{path}: not the manifest of a repaired split ({str(error)[:200]})") from error


def _is_of(run: Path, manifest: RepairedSplitManifest) -> bool:
    audit = load_json(run, "manifest.json")
    return (audit["source"], audit["benchmark"]["content_hash"]) == (manifest.source, manifest.benchmark.content_hash)


def _of_run(run: Path, folder: Path, manifest: RepairedSplitManifest, benchmark: Path | None) -> RepairedRuns:
    decisions = read_decisions(run)
    repaired = [each.task_id for each in manifest.repaired]
    unchanged = {each.task_id for each in decisions if each.action != "drop"} - set(repaired)
    if unchanged != set(manifest.kept_ids) - set(repaired):
        raise CommandError(f"{folder}: made from other decisions than those of {run}; run `agenthard repair` again")
    judged = list(_judged(run, manifest, benchmark)) if repaired else []
    return repaired_runs(run, [each.task_id for each in decisions], manifest.kept_ids, repaired, judged)


def _judged(run: Path, manifest: RepairedSplitManifest, benchmark: Path | None) -> Iterator[RescoredRun]:
    wanted = [each.task_id for each in manifest.repaired]
    edits = [edit for each in manifest.repaired for edit in each.edits]
    try:
        audit = read_audited(run, str(benchmark) if benchmark else None)
        source = audit.open_unchanged()
        before = source.find_tasks(wanted)
        with changed_copy(source.folder or source.root.parent, audit.opener(source), edits) as copy:
            after = copy.find_tasks(wanted)
            with audit.settings.execution() as execution:
                yield from rescore(before, after, recorded_runs(run, wanted), execution)
    except (CommandError, SourceError, OSError) as error:
        for each in recorded_runs(run, wanted):
            if each.passed is not None:
                yield RescoredRun(
                    run_id=each.id, task_id=each.task_id, before=each.passed, after=None, reason=str(error)
                )


def recorded_runs(run: Path, tasks: Collection[str]) -> Iterator[Trajectory]:
    """Stream the recorded runs of some tasks with their messages, holding one row group at a time."""
    wanted = pa.array(sorted(tasks), pa.string())
    with pq.ParquetFile(table_file(run, "trajectories")) as file:
        for group in range(file.num_row_groups):
            ids = file.read_row_group(group, columns=["task_id"])["task_id"]
            chosen = pc.is_in(ids, value_set=wanted)
            if not pc.any(chosen).as_py():
                continue
            rows = file.read_row_group(group, columns=[*RUN_COLUMNS, "messages"]).filter(chosen)
            for row in rows.to_pylist():
                messages = tuple(map(Message.model_validate, json.loads(row.pop("messages"))))
                yield Trajectory.model_validate({**row, "messages": messages})
