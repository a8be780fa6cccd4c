"""Two audits of one benchmark side by side. What may not be compared is refused, or left out and counted."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.decisions.policy import Action
from reports.cleaning.boards import Board, make_board
from reports.cleaning.choice import ChosenRuns, choose_runs
from reports.cleaning.experiments import RunsUsed
from reports.cleaning.inputs import AnalysisError, AnalysisSettings, CleaningInput, Experiment
from reports.cleaning.ranking import CountedScores
from reports.comparison.findings import (
    AuditDelta,
    DecisionChange,
    FindingChanges,
    compare_decisions,
    compare_findings,
)
from reports.comparison.scores import ScoreComparison, compare_scores
from reports.statistics import DifferentModels, Estimate, Result, ScoreMatrix, Undefined, require_same_models
from reports.statistics.resampling import all_bootstrap_means, percentile_interval
from reports.statistics.result import PREFIX, undefined
from taxonomy.record import Record


class ComparisonError(ValueError):
    """The two sides may not be compared at all; the message says why."""


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


class CleanedDelta(Record):
    """One model on the two cleaned splits."""

    model: str
    """Model."""
    difference: Result
    """Score on the second cleaned split minus score on the first, with a paired bootstrap interval over their tasks."""


class BoardsComparison(Record):
    """Leaderboards of two audits on common tasks of equal content and common models."""

    first_runs: RunsUsed
    """Runs of the first audit."""
    second_runs: RunsUsed
    """Runs of the second audit."""
    left_out: tuple[str, ...]
    """Models that only one side can compare; empty unless the comparison was restricted to common models."""
    scores: ScoreComparison
    """All common tasks, whatever was decided on them: differences come from the runs."""
    first_cleaned: Board
    """Leaderboard of the first audit's cleaned split."""
    second_cleaned: Board
    """Leaderboard of the second audit's cleaned split."""
    cleaned: tuple[CleanedDelta, ...]
    """What the change of the cleaned split does to each score."""


class RunComparison(Record):
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
) -> RunComparison:
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
        AnalysisError: when no side has such an experiment.
    """
    settings = settings or AnalysisSettings()
    if first.audit.audit.source != second.audit.audit.source:
        raise ComparisonError(
            f"{first.name} audits {first.audit.audit.source} and {second.name} {second.audit.audit.source}: audits of "
            "different benchmarks have no task and no finding in common, so they may not be compared"
        )
    tasks = _tasks(first, second)
    delta = AuditDelta(
        versions_before=first.audit.audit.checks,
        versions_after=second.audit.audit.checks,
        tasks_before=frozenset(first.contents),
        tasks_after=frozenset(second.contents),
        changed_tasks=frozenset(tasks.changed),
    )
    decided = {task: (action, second.actions[task]) for task, action in first.actions.items() if task in second.actions}
    findings = compare_findings(
        first.audit.findings,
        second.audit.findings,
        delta,
        decided,
        lambda check, task: second.coverage.get((check, task)) in ("clean", "flagged"),
    )
    decisions = compare_decisions(first.audit.decisions, second.audit.decisions)
    boards = _boards(first, second, settings, experiment, common_models)
    new_defects = sum(c.tier.value == "confirmed" and c.severity.value != "cosmetic" for c in findings.new)
    return RunComparison(
        first=first.name,
        second=second.name,
        title=second.audit.title,
        same_content=first.audit.audit.content_hash == second.audit.audit.content_hash,
        tasks=tasks,
        findings=findings,
        decisions=decisions,
        boards=boards,
        new_defects=new_defects,
        sentence=_sentence(second.audit.title, tasks, findings, decisions, boards),
    )
