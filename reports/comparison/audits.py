"""Two audits of one benchmark side by side. What may not be compared is refused, or left out and counted."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agenthard.audit.decisions.policy import Action
from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput, load_run
from agenthard.reports.comparison.boards import BoardsComparison, compare_boards
from agenthard.reports.comparison.findings import (
    AuditDelta,
    DecisionChange,
    FindingChanges,
    compare_decisions,
    compare_findings,
)
from agenthard.reports.kit.load import read_table
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.record import Record


class ComparisonError(AgentHardError, ValueError):
    """The two sides may not be compared at all; the message says why."""

    code = "AH707"
    remedy = "Compare audits of the same benchmark with the same models, or use `--common-models`."


@dataclass(frozen=True)
class AuditSide:
    """One audit."""

    name: str
    """How the report calls it, such as its folder."""
    audit: CleaningInput
    """Tasks, decisions, findings, runs."""
    contents: Mapping[str, str]
    """Hash of the content of every task."""
    coverage: Mapping[tuple[str, str], str]
    """Status by (check, task id)."""

    @cached_property
    def actions(self) -> dict[str, Action]:
        """Decision by task id."""
        return {decision.task_id: decision.action for decision in self.audit.decisions}


class TaskSets(Record):
    """Which tasks of two audits are the same."""

    same: int
    """Tasks with equal id and equal content; leaderboards are compared on these."""
    changed: tuple[str, ...]
    """Tasks with equal id and different content; left out of every comparison of scores."""
    only_first: tuple[str, ...]
    """Tasks of the first audit only."""
    only_second: tuple[str, ...]
    """Tasks of the second audit only."""


class AuditComparison(Record):
    """Two audits side by side."""

    schema_version: str = "1"
    """Version of this layout."""
    first: str
    """Name of the first audit."""
    second: str
    """Name of the second audit."""
    title: str
    """Name of the benchmark."""
    same_content: bool
    """Whether all files of the benchmark are equal."""
    tasks: TaskSets
    """Which tasks are the same."""
    findings: FindingChanges
    """Findings by stable id."""
    decisions: tuple[DecisionChange, ...]
    """Common tasks that are decided differently."""
    boards: BoardsComparison | Undefined
    """Leaderboards side by side, or why they may not be compared."""
    new_defects: int
    """New confirmed findings that are more than cosmetic."""
    sentence: str
    """The comparison in one sentence."""


def compare_audits(
    first: AuditSide,
    second: AuditSide,
    settings: AnalysisSettings | None = None,
    *,
    experiment: str | None = None,
    common_models: bool = False,
) -> AuditComparison:
    """Compare two audits of one benchmark.

    Args:
        first: the earlier audit.
        second: the later audit.
        settings: parameters; the defaults when None.
        experiment: which runs; None = chosen on the first side.
        common_models: compare leaderboards of the models that both sides have, instead of refusing different ones.

    Returns:
        The comparison.

    Raises:
        ComparisonError: for audits of different benchmarks.
        AnalysisError: when the first audit has no such experiment.
    """
    settings = settings or AnalysisSettings()
    findings, tasks = finding_changes(first, second), task_sets(first, second)
    decisions = compare_decisions(first.audit.decisions, second.audit.decisions)
    same = [task for task, content in first.contents.items() if second.contents.get(task) == content]
    boards = compare_boards(
        first.audit, second.audit, same, settings, experiment=experiment, common_models=common_models
    )
    return AuditComparison(
        first=first.name,
        second=second.name,
        title=second.audit.title,
        same_content=first.audit.audit.content_hash == second.audit.audit.content_hash,
        tasks=tasks,
        findings=findings,
        decisions=decisions,
        boards=boards,
        new_defects=sum(c.tier is Tier.CONFIRMED and c.severity is not Severity.COSMETIC for c in findings.new),
        sentence=_sentence(second.audit.title, tasks, findings, decisions, boards),
    )


def finding_changes(first: AuditSide, second: AuditSide) -> FindingChanges:
    """Compare the findings of two audits of one benchmark; the arguments are those of `compare_audits`.

    Raises:
        ComparisonError: for audits of different benchmarks.
    """
    if first.audit.audit.source != second.audit.audit.source:
        raise ComparisonError(
            f"{first.name} audits {first.audit.audit.source} and {second.name} {second.audit.audit.source}: audits of "
            "different benchmarks have no task and no finding in common, so they may not be compared"
        )
    delta = AuditDelta(
        versions_before=first.audit.audit.checks,
        versions_after=second.audit.audit.checks,
        tasks_before=frozenset(first.contents),
        tasks_after=frozenset(second.contents),
        changed_tasks=frozenset(task_sets(first, second).changed),
    )
    decided = {task: (action, second.actions[task]) for task, action in first.actions.items() if task in second.actions}
    return compare_findings(
        first.audit.findings,
        second.audit.findings,
        delta,
        decided,
        lambda check, task: second.coverage.get((check, task)) in ("clean", "flagged"),
        first.audit.suppressed,
        second.audit.suppressed,
    )


def task_sets(first: AuditSide, second: AuditSide) -> TaskSets:
    """Compare the tasks of two audits by id and content."""
    common = [task for task in first.contents if task in second.contents]
    changed = tuple(task for task in common if first.contents[task] != second.contents[task])
    return TaskSets(
        same=len(common) - len(changed),
        changed=changed,
        only_first=tuple(task for task in first.contents if task not in second.contents),
        only_second=tuple(task for task in second.contents if task not in first.contents),
    )


def _sentence(
    title: str,
    tasks: TaskSets,
    findings: FindingChanges,
    decisions: tuple[DecisionChange, ...],
    boards: BoardsComparison | Undefined,
) -> str:
    parts = [
        f"{title}: {len(findings.new):,} new findings, {findings.persisted:,} persisted, "
        f"{len(findings.fixed):,} fixed, {len(findings.unchecked):,} not checked any more, "
        f"{len(findings.suppressed):,} suppressed, {len(findings.flipped):,} flipped",
        f"{len(decisions):,} tasks decided differently",
        f"{tasks.same:,} tasks with equal content, {len(tasks.changed):,} changed, {len(tasks.only_first):,} gone, "
        f"{len(tasks.only_second):,} added",
    ]
    if isinstance(boards, Undefined):
        parts.append(f"the leaderboards are not compared: {boards.reason}")
    return f"{'; '.join(parts)}."


CONTENT = ("user", "initial_state", "hidden_tools", "evaluation", "ground_truth", "traits", "environment")
"""Columns of the table of tasks that say what a task is. The state that tasks share (a database) is not in the table:
when only it changed, the benchmark's content hash differs and the tasks do not."""


def load_side(folder: Path) -> AuditSide:
    """Read a run folder.

    Args:
        folder: run folder of a finished audit.

    Returns:
        The audit with the hashes of its tasks and the status of every check on every task.

    Raises:
        RunTablesError: when the folder holds no finished audit of a known layout.
    """
    audit = load_run(folder)
    return AuditSide(name=str(folder), audit=audit, contents=task_contents(folder), coverage=_coverage(folder))


def task_contents(folder: Path) -> dict[str, str]:
    """Hash the content of each task of an audit, by its id (see ``CONTENT``)."""
    table = read_table(folder, "tasks", ["id", *CONTENT], dictionaries=["environment"])
    hashes: dict[str, str] = {}
    for batch in table.to_batches():
        columns = [batch.column(name) for name in CONTENT[:-1]]
        environment = batch.column("environment")
        shared = [hashlib.sha256(text.encode()).hexdigest() for text in environment.dictionary.to_pylist()]
        for row, (identity, index) in enumerate(
            zip(batch.column("id").to_pylist(), environment.indices.to_pylist(), strict=True)
        ):
            parts = [str(column[row].as_py()) for column in columns]
            hashes[identity] = hashlib.sha256("\x1f".join([*parts, shared[index]]).encode()).hexdigest()[:16]
    return hashes


def _coverage(folder: Path) -> dict[tuple[str, str], str]:
    table = read_table(folder, "coverage", ["check", "task_id", "status"])
    check, task, status = (table[name].to_pylist() for name in ("check", "task_id", "status"))
    return dict(zip(zip(check, task, strict=True), status, strict=True))
