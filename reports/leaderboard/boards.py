"""Stored runs scored on the splits of a benchmark, without running a model again."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from agenthard.audit.statistics import Estimate, Result, ScoreMatrix, Undefined
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.counted_scores import CountedScores
from agenthard.reports.cleaning.difficulty import HardSplit, select_hard_split
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings, CleaningInput, Experiment
from agenthard.reports.cleaning.leaderboard import Board, make_board
from agenthard.reports.cleaning.runs import ChosenRuns, choose_runs, reorder_models, require_comparable
from agenthard.reports.cleaning.splits import Split, SplitName, describe_split
from agenthard.reports.cleaning.stability import Groups, ranking_stability
from agenthard.reports.kit.page import anchor
from agenthard.reports.leaderboard.scored import (
    BenchmarkBoards,
    ModelAcross,
    RepairedRuns,
    ScoredName,
    ScoredSplit,
    unique_anchors,
)

_OWN: dict[ScoredName, SplitName] = {"original": "initial", "clean": "cleaned", "hard": "hard", "repaired": "repaired"}


def score_splits(
    run: str,
    found: CleaningInput,
    wanted: Sequence[ScoredName],
    settings: AnalysisSettings | None = None,
    *,
    domains: Sequence[str] = (),
    experiment: str | None = None,
    repaired: RepairedRuns | None = None,
) -> BenchmarkBoards:
    """Score the recorded runs of an audit on splits of its benchmark.

    Args:
        run: name of the run folder.
        found: the audit.
        wanted: splits, in the order in which they are shown.
        settings: parameters; the defaults when None.
        domains: domains that were audited; empty for all.
        experiment: which runs; None = those of the experiment with most comparable models.
        repaired: the repaired split, where there is one.

    Returns:
        The leaderboards. A split without a leaderboard says why.

    Raises:
        AnalysisError: when the experiment does not exist.
    """
    settings = settings or AnalysisSettings()
    chosen = _choose(found, found.experiments, experiment, settings)
    runs = require_comparable(chosen, found.experiments, found.categories)
    scorer = _Scorer(found, runs, settings)
    splits = tuple(
        scorer.repaired(repaired, runs.used.experiment if isinstance(runs, ChosenRuns) else experiment)
        if name == "repaired"
        else scorer.scored(name)
        for name in wanted
    )
    return BenchmarkBoards(
        anchor=anchor("-".join([found.audit.source, found.audit.benchmark, *domains])),
        run=run,
        title=found.title,
        source=found.audit.source,
        version=found.audit.benchmark,
        content_hash=found.audit.content_hash,
        audit_key=found.audit.audit_key,
        policy=found.audit.policy,
        tasks=len(found.tasks),
        dropped=len(found.with_action("drop")),
        review=len(found.with_action("review")),
        domains=tuple(domains),
        runs=chosen if isinstance(chosen, Undefined) else chosen.used,
        splits=splits,
        models=_across(splits),
        stability=scorer.stability(),
    )


def part_of(found: CleaningInput, domains: Collection[str]) -> CleaningInput:
    """Restrict an audit to domains of its benchmark, so that models that ran only these can be ranked.

    Args:
        found: the audit.
        domains: domains or subtasks of its tasks; empty for all.

    Raises:
        AnalysisError: when it has no task of a domain.
    """
    if not domains:
        return found
    known = sorted({task.category for task in found.tasks})
    unknown = sorted(set(domains) - set(known))
    if unknown:
        raise AnalysisError(f"{found.title} has no domain {unknown[0]!r}; there are: {', '.join(known)}")
    kept = {task.id for task in found.tasks if task.category in domains}
    return replace(
        found,
        tasks=[task for task in found.tasks if task.id in kept],
        decisions=[decision for decision in found.decisions if decision.task_id in kept],
        experiments=_restricted(found.experiments, kept),
    )


def _restricted(experiments: Sequence[Experiment], tasks: Collection[str]) -> list[Experiment]:
    """Keep the runs of some tasks, and the models that have one."""

    def part(matrix: ScoreMatrix, models: Collection[str]) -> ScoreMatrix:
        return matrix.keep(set(tasks).intersection(matrix.tasks)).keep_models(models)

    found = []
    for each in experiments:
        own = each.missing.keep(set(tasks).intersection(each.missing.tasks))
        models = [own.models[row] for row in np.flatnonzero(((own.runs + own.lost) > 0).any(axis=1))]
        found.append(replace(each, missing=part(each.missing, models), failures=part(each.failures, models)))
    return found


def _choose(
    found: CleaningInput, experiments: Sequence[Experiment], wanted: str | None, settings: AnalysisSettings
) -> ChosenRuns | Undefined:
    return choose_runs(
        experiments,
        found.categories,
        wanted,
        clustered=found.clusters is not None,
        min_verdicts=settings.min_verdicts,
    )


class _Scorer:
    def __init__(self, found: CleaningInput, runs: ChosenRuns | Undefined, settings: AnalysisSettings) -> None:
        self._found, self._runs, self._settings = found, runs, settings

    def _clean(self) -> tuple[str, ...]:
        return self._found.with_action("keep", "unchecked", "review")

    def _describe(self, name: ScoredName, tasks: Sequence[str], matrix: ScoreMatrix | Undefined) -> Split:
        return describe_split(
            _OWN[name],
            tasks,
            review=len(set(self._found.with_action("review")).intersection(tasks)),
            initial=len(self._found.tasks),
            matrix=matrix if isinstance(matrix, Undefined) else matrix.keep(tasks),
        )

    def scored(self, name: ScoredName) -> ScoredSplit:
        """Score the runs on the original, clean or hard split."""
        tasks = self._clean() if name == "clean" else tuple(self._found.categories)
        if isinstance(self._runs, Undefined):
            card = self._runs if name == "hard" else self._describe(name, tasks, self._runs)
            return ScoredSplit(name=name, card=card, board=self._runs)
        hard = self._hard(self._runs) if name == "hard" else None
        if isinstance(hard, Undefined):
            return ScoredSplit(name=name, card=hard, board=hard)
        if hard is not None:
            tasks = hard.record.selected
        card = self._describe(name, tasks, self._runs.missing)
        return ScoredSplit(name=name, card=card, board=self._board(name, tasks, self._runs, hard))

    def repaired(self, split: RepairedRuns | None, experiment: str | None) -> ScoredSplit:
        """Score the runs on the repaired split, as the evaluator judges them there."""
        if split is None:
            reason = undefined("no repaired split was given", 0, "tasks")
            return ScoredSplit(name="repaired", card=reason, board=reason)
        experiments = _restricted(split.experiments, self._found.categories)
        tasks = tuple(task for task in split.task_ids if task in self._found.categories)
        chosen = _choose(self._found, experiments, experiment, self._settings)
        runs = require_comparable(chosen, experiments, self._found.categories)
        if isinstance(runs, ChosenRuns) and isinstance(self._runs, ChosenRuns):
            runs = _same_models(runs, self._runs)
        if isinstance(runs, Undefined):
            card = self._describe("repaired", tasks, runs)
            return ScoredSplit(name="repaired", card=card, board=runs, rescoring=split.rescoring)
        card = self._describe("repaired", tasks, runs.missing)
        board = self._board("repaired", tasks, runs, None)
        return ScoredSplit(name="repaired", card=card, board=board, rescoring=split.rescoring)

    def _hard(self, runs: ChosenRuns) -> HardSplit | Undefined:
        kept = self._clean()
        categories = {task: self._found.categories[task] for task in kept}
        return select_hard_split(categories, runs.missing.keep(kept), self._settings.difficulty)

    def _board(self, name: ScoredName, tasks: Sequence[str], runs: ChosenRuns, hard: HardSplit | None) -> Board:
        def scores(matrix: ScoreMatrix) -> CountedScores:
            if hard is not None:
                return CountedScores.on_own_tasks(matrix, hard.own_tasks)
            return CountedScores.on_all(matrix.keep(tasks))

        return make_board(
            _OWN[name],
            tasks,
            scores(runs.missing),
            scores(runs.failures),
            runs.missing.keep(tasks),
            self._found.clusters,
            self._settings,
            hard.record.cross_fitted if hard is not None else None,
        )

    def stability(self) -> str:
        """Say how the ranking moves from the original to the clean split."""
        if isinstance(self._runs, Undefined):
            return ""
        matrix, clean = self._runs.missing, self._clean()
        before, after = self._describe("original", matrix.tasks, matrix), self._describe("clean", clean, matrix)
        kept = matrix.keep(clean)
        first, second = CountedScores.on_all(matrix).scores(), CountedScores.on_all(kept).scores()
        groups = Groups(self._found.clusters, self._found.categories)
        row = ranking_stability(before, after, first, second, matrix, kept, "errors_missing", self._settings, groups)
        return row.sentence


def _same_models(runs: ChosenRuns, original: ChosenRuns) -> ChosenRuns | Undefined:
    """Rank on the repaired split the models of the other splits, in their order."""
    lost = set(original.missing.models) - set(runs.missing.models)
    if lost:
        reason = f"too few runs of {', '.join(sorted(lost))} could be scored again"
        return undefined(reason, len(runs.missing.models), "models")
    models = original.missing.models
    missing, failures = (reorder_models(matrix, models) for matrix in (runs.missing, runs.failures))
    return replace(runs, missing=missing, failures=failures)


def _across(splits: Sequence[ScoredSplit]) -> tuple[ModelAcross, ...]:
    boards: dict[ScoredName, Board] = {each.name: each.board for each in splits if isinstance(each.board, Board)}
    names = dict.fromkeys(row.model for board in boards.values() for row in board.rows)
    anchors = unique_anchors(names)
    rows = []
    for model in names:
        own = {name: row for name, board in boards.items() for row in board.rows if row.model == model}
        ranks = [own[name].rank if name in own else None for name in boards]
        first, last = ranks[0], ranks[-1]
        rows.append(
            ModelAcross(
                model=model,
                anchor=anchors[model],
                ranks={name: _rank(row.rank, row.rank_interval) for name, row in own.items()},
                scores={name: row.score for name, row in own.items()},
                gained=None if first is None or last is None or len(boards) < 2 else first - last,
            )
        )
    return tuple(rows)


def _rank(rank: int | None, interval: Result) -> Result:
    """Keep the rank where only its interval is undefined."""
    if rank is None or isinstance(interval, Estimate):
        return interval
    method = f"ordinal rank; no interval: {interval.reason}"
    return Estimate(value=rank, n=interval.n, of=interval.n, unit="tasks", method=method)
