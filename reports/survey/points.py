"""The share of each model's recorded score that rests on flawed tasks, with bounds over the tasks under review.

Over the tasks T on which the models are scored, a model's score is s = Σ_T x_t / |T|, where x_t is the share of its
runs on task t that passed. D are the tasks that the policy drops, R those that wait for a person. Points won on flawed
tasks are at least Σ_D x_t / |T| (no task of R is flawed) and at most Σ_{D ∪ R} x_t / |T| (all are); points lost the
same with 1 − x_t. The share of the score is the points won over s.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import Result, ScoreMatrix, Undefined, score_bounds
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import CleaningInput, Experiment
from agenthard.reports.cleaning.runs import ModelCoverage, RunsUsed
from agenthard.reports.leaderboard.scored import BenchmarkBoards, ScoredName, unique_anchors
from agenthard.taxonomy.record import Record


class Bounds(Record):
    """A figure if no task under review is flawed, and if all are; in between otherwise."""

    least: float
    """If no task under review is flawed."""
    most: float
    """If every task under review is flawed."""


class ModelPoints(Record):
    """What flawed tasks contribute to the recorded score of one model. Points are shares of all its tasks, 0..1."""

    model: str
    """Model."""
    anchor: str
    """Its anchor on the page, behind that of the benchmark."""
    comparable: bool
    """Whether it is ranked; another model is looked at on its own tasks, so its figures stand alone."""
    reason: str
    """Why it is not ranked; empty when it is."""
    tasks: int
    """Tasks that count: those on which every ranked model has a verdict, or the model's own ones."""
    of: int
    """Tasks of the benchmark."""
    dropped: int
    """Tasks among them that the policy drops."""
    review: int
    """Tasks among them that wait for a person."""
    score: float
    """Recorded score on these tasks."""
    won: Bounds
    """Points that rest on flawed tasks."""
    lost: Bounds
    """Points that the model did not get on flawed tasks."""
    share: Bounds | Undefined
    """Share of the recorded score that rests on flawed tasks; undefined for a score of 0."""
    without: Bounds | Undefined
    """Lowest and highest score without the flawed tasks, over all ways to keep or drop those under review."""
    rank_before: Result | None
    """Rank with its interval on the original split; None for a model that is not ranked."""
    rank_after: Result | None
    """Rank with its interval on the clean split."""


def model_points(found: CleaningInput, boards: BenchmarkBoards) -> tuple[ModelPoints, ...] | Undefined:
    """Add up the points that the recorded models won and lost on flawed tasks.

    Args:
        found: the audit.
        boards: its leaderboards on the original and the clean split.

    Returns:
        One record per model of the chosen experiment that has a verdict, ranked models first; undefined without runs.
    """
    used = boards.runs
    if isinstance(used, Undefined):
        return used
    experiment = next(each for each in found.experiments if each.name == used.experiment)
    rows = _points(found, boards, used, experiment)
    return rows or undefined("no recorded run has a verdict", 0, "runs")


def _points(
    found: CleaningInput, boards: BenchmarkBoards, used: RunsUsed, experiment: Experiment
) -> tuple[ModelPoints, ...]:
    ranked = experiment.missing.keep_models(used.comparable).complete_tasks()
    places = {model: number for number, model in enumerate(row.model for row in boards.models)}
    models = sorted(used.models, key=lambda row: (not row.comparable, places.get(row.model, 0), row.model))
    anchors = unique_anchors([row.model for row in models])
    ranks = {row.model: row.ranks for row in boards.models}
    found_rows = []
    for model in models:
        matrix = ranked if model.comparable else _own(experiment.missing, model.model)
        if matrix.tasks:
            row = _row(found, model, matrix, anchors[model.model], ranks.get(model.model, {}))
            found_rows.append(row)
    return tuple(found_rows)


def _own(matrix: ScoreMatrix, model: str) -> ScoreMatrix:
    return matrix.keep_models([model]).complete_tasks()


def _row(
    found: CleaningInput,
    model: ModelCoverage,
    matrix: ScoreMatrix,
    anchor: str,
    ranks: Mapping[ScoredName, Result],
) -> ModelPoints:
    values = matrix.values[matrix.models.index(model.model)]
    drop, review = (_members(matrix.tasks, found.with_action(action)) for action in ("drop", "review"))
    score = float(values.mean())
    won, lost = _bounds(values, drop, review), _bounds(1 - values, drop, review)
    share: Bounds | Undefined = undefined("the recorded score is 0", len(values), "tasks")
    if score > 0:
        share = Bounds(least=won.least / score, most=won.most / score)
    return ModelPoints(
        model=model.model,
        anchor=anchor,
        comparable=model.comparable,
        reason=model.reason,
        tasks=len(values),
        of=len(found.tasks),
        dropped=int(drop.sum()),
        review=int(review.sum()),
        score=score,
        won=won,
        lost=lost,
        share=share,
        without=_without(matrix, model.model, drop, found.with_action("review")),
        rank_before=ranks.get("original"),
        rank_after=ranks.get("clean"),
    )


def _members(tasks: Sequence[str], chosen: Collection[str]) -> NDArray[np.bool_]:
    wanted = set(chosen)
    return np.array([task in wanted for task in tasks], dtype=np.bool_)


def _bounds(values: NDArray[np.float64], drop: NDArray[np.bool_], review: NDArray[np.bool_]) -> Bounds:
    least, more = float(values[drop].sum()), float(values[review].sum())
    return Bounds(least=least / len(values), most=(least + more) / len(values))


def _without(matrix: ScoreMatrix, model: str, drop: NDArray[np.bool_], review: Collection[str]) -> Bounds | Undefined:
    kept = [task for task, gone in zip(matrix.tasks, drop.tolist(), strict=True) if not gone]
    open_tasks = set(review).intersection(kept)
    if not kept:
        return undefined("every task that counts is flawed", 0, "tasks")
    left = matrix.keep(kept)
    if not open_tasks:
        score = float(left.values[left.models.index(model)].mean())
        return Bounds(least=score, most=score)
    bounds = score_bounds(left, open_tasks)
    if isinstance(bounds, Undefined):
        return bounds
    row = next(each for each in bounds if each.model == model)
    return Bounds(least=row.least, most=row.most)
