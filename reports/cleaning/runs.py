"""Which runs are compared: one experiment, and in it the models that attempted (nearly) every task of the benchmark."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import Missing, Result, ScoreMatrix, Undefined, ordinal_ranks
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import AnalysisError, Experiment
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.record import Record


class ModelCoverage(Record):
    """What one model ran of the benchmark, in the chosen experiment."""

    model: str
    """Model."""
    attempted: int
    """Tasks with a run, errors included."""
    of: int
    """Tasks there are."""
    scored: int
    """Tasks with a verdict."""
    runs: int
    """Runs, errors included."""
    errors: int
    """Runs without a verdict: infrastructure and judge errors, which are not failures of the model."""
    comparable: bool
    """Whether it attempted enough tasks and has enough verdicts; only such models are in a leaderboard."""
    reason: str
    """Why it is not comparable, such as "attempted 50 of 165 tasks (airline 50/50, retail 0/115)"; else empty."""


class ExperimentSize(Record):
    """One experiment that the runs belong to."""

    name: str
    """Name (protocol) as the logs give it; empty when they do not."""
    models: int
    """Models with a run in it."""
    complete_models: int
    """Comparable models."""
    runs: int
    """Runs."""


class RunsUsed(Record):
    """The runs behind every number about models."""

    experiment: str
    """The experiment that was chosen; empty when the logs name none."""
    sentence: str
    """Which experiment, why, how many models, and how many runs without a verdict there were."""
    experiments: tuple[ExperimentSize, ...]
    """All experiments there were."""
    models: tuple[ModelCoverage, ...]
    """Models of the chosen experiment, comparable ones first, then by name."""
    trials: int
    """Largest number of runs of one model on one task."""
    clustered: bool
    """Whether intervals respect clusters of tasks (variants of one base task) or repeated runs."""
    simulator: Result | None = None
    """Variance of an outcome that the user simulator adds, where a model met several on a task."""
    judge: Result | None = None
    """Variance of a score that the judge adds, where several scored a run."""

    @property
    def comparable(self) -> tuple[str, ...]:
        """Names of the comparable models."""
        return tuple(model.model for model in self.models if model.comparable)


LEAST_ATTEMPTED = 0.8
"""Least share of the tasks that a compared model attempted. Pairs are tested on the tasks that both have, but scores
are taken on the tasks that all have, so a model with a small part of them would cost all others the rest."""
_MOST_CATEGORIES = 6
"""With more categories the coverage of each is left out of a sentence."""


@dataclass(frozen=True)
class ChosenRuns:
    """The runs that are compared, as matrices over all tasks, best initial score first."""

    used: RunsUsed
    """Their description in the report."""
    missing: ScoreMatrix
    """Comparable models; infrastructure errors are missing."""
    failures: ScoreMatrix
    """The same models and tasks; infrastructure errors are failures."""
    everyone: ScoreMatrix
    """All models of the experiment on all tasks, the ones that are not comparable included; errors are missing."""

    @property
    def has_errors(self) -> bool:
        """Whether the two readings differ."""
        return self.missing.coverage != self.failures.coverage or bool((self.missing.runs != self.failures.runs).any())


def require_comparable(
    chosen: ChosenRuns | Undefined, experiments: Sequence[Experiment], categories: Mapping[str, str]
) -> ChosenRuns | Undefined:
    """Give the reason when no model can be compared, with the category that most models attempted as a whole."""
    if isinstance(chosen, Undefined) or chosen.used.comparable:
        return chosen
    most = max(chosen.used.models, key=lambda model: model.attempted)
    name = f"the experiment {chosen.used.experiment!r}" if chosen.used.experiment else "these runs"
    text = f"no model can be compared in {name}: {most.model} {most.reason}, and no other did more"
    matrix = next(e.missing for e in experiments if e.name == chosen.used.experiment)
    whole = {name: _whole(matrix, categories, name) for name in sorted(set(categories.values()))}
    best = max(whole, key=whole.__getitem__)
    if len(whole) > 1 and whole[best]:
        text += (
            f"; {plural(whole[best], 'model')} attempted all of {best}, which can be audited alone (--domain {best})"
        )
    return undefined(text, 0, "models")


def _whole(matrix: ScoreMatrix, categories: Mapping[str, str], category: str) -> int:
    wanted = {task for task, name in categories.items() if name == category}
    if not wanted <= set(matrix.tasks):
        return 0
    part = matrix.keep(wanted)
    return int(((part.runs + part.lost) > 0).all(axis=1).sum())


def choose_runs(
    experiments: Sequence[Experiment],
    categories: Mapping[str, str],
    wanted: str | None,
    *,
    clustered: bool,
    min_verdicts: float,
) -> ChosenRuns | Undefined:
    """Choose one experiment, and in it the models that attempted enough tasks and have enough verdicts.

    Args:
        experiments: all experiments.
        categories: category by task id, for all tasks in the benchmark's order.
        wanted: name of the experiment; None = the one with most comparable models (then most models, most runs, first
            name).
        clustered: whether tasks have clusters.
        min_verdicts: least share of the tasks on which a compared model has a verdict.

    Returns:
        The runs; undefined without any run of the benchmark's tasks.

    Raises:
        AnalysisError: when the experiment does not exist.
    """
    present = [experiment for experiment in experiments if experiment.missing.tasks]
    if not present:
        return undefined("no runs of models were given with the audit (--runs)")
    names = [experiment.name for experiment in present]
    if wanted is not None and wanted not in names:
        known = ", ".join(name or "(no name)" for name in names)
        raise AnalysisError(f"no experiment {wanted!r} among the runs; there are: {known}")
    coverage = {experiment.name: _coverage(experiment, categories, min_verdicts) for experiment in present}
    sizes = tuple(_size(experiment, coverage[experiment.name]) for experiment in present)
    best = min(sizes, key=lambda size: (-size.complete_models, -size.models, -size.runs, size.name))
    name = best.name if wanted is None else wanted
    experiment = present[names.index(name)]
    rows = sorted(coverage[name], key=lambda row: (not row.comparable, row.model))
    comparable = [row.model for row in rows if row.comparable]
    missing, failures = (_ordered(m, comparable, categories) for m in (experiment.missing, experiment.failures))
    failures = reorder_models(failures, missing.models)
    used = RunsUsed(
        experiment=name,
        sentence=_sentence(name, sizes, wanted, rows, missing),
        experiments=sizes,
        models=tuple(rows),
        trials=experiment.trials,
        clustered=clustered or experiment.trials > 1,
        simulator=experiment.simulator,
        judge=experiment.judge,
    )
    everyone = on_tasks(reorder_models(experiment.missing, [row.model for row in rows]), list(categories))
    return ChosenRuns(used, missing, failures, everyone)


def _coverage(experiment: Experiment, categories: Mapping[str, str], min_verdicts: float) -> list[ModelCoverage]:
    matrix = experiment.missing
    attempted = (matrix.runs + matrix.lost) > 0
    totals = Counter(categories.values())
    rows = []
    for i, model in enumerate(matrix.models):
        tasks = [task for task, there in zip(matrix.tasks, attempted[i], strict=True) if there]
        scored = int(matrix.scored[i].sum())
        reason = ""
        if not tasks or len(tasks) < LEAST_ATTEMPTED * len(categories):
            per_category = Counter(categories[task] for task in tasks)
            parts = [f"{name or 'tasks'} {per_category[name]}/{n}" for name, n in sorted(totals.items())]
            detail = f" ({', '.join(parts)})" if 1 < len(parts) <= _MOST_CATEGORIES else ""
            reason = f"attempted {len(tasks):,} of {len(categories):,} tasks{detail}"
        elif scored < min_verdicts * len(categories):
            reason = f"has a verdict on {scored:,} of {len(categories):,} tasks only (infrastructure or judge errors)"
        rows.append(
            ModelCoverage(
                model=model,
                attempted=len(tasks),
                of=len(categories),
                scored=scored,
                runs=int(matrix.runs[i].sum() + matrix.lost[i].sum()),
                errors=int(matrix.lost[i].sum()),
                comparable=not reason,
                reason=reason,
            )
        )
    return rows


def _size(experiment: Experiment, rows: Sequence[ModelCoverage]) -> ExperimentSize:
    return ExperimentSize(
        name=experiment.name,
        models=len(rows),
        complete_models=sum(row.comparable for row in rows),
        runs=sum(row.runs for row in rows),
    )


def _ordered(matrix: ScoreMatrix, models: Sequence[str], tasks: Mapping[str, str]) -> ScoreMatrix:
    """Comparable models on all tasks, best score first; ties in order of name."""
    kept = reorder_models(matrix, sorted(models)) if models else matrix.keep_models([])
    kept = on_tasks(kept, list(tasks)) if models else kept
    scores = kept.scores()
    if not scores:
        return kept
    ranks = ordinal_ranks(scores)
    return reorder_models(kept, sorted(ranks, key=ranks.__getitem__))


def reorder_models(matrix: ScoreMatrix, models: Sequence[str]) -> ScoreMatrix:
    """Keep these models, in this order; ties of every ranking follow it."""
    rows = np.array([matrix.models.index(model) for model in models], dtype=np.intp)
    return replace(
        matrix,
        models=tuple(models),
        passed=matrix.passed[rows],
        runs=matrix.runs[rows],
        lost=matrix.lost[rows],
        reasons=matrix.reasons[rows],
    )


def on_tasks(matrix: ScoreMatrix, tasks: Sequence[str]) -> ScoreMatrix:
    """Lay a matrix out on these tasks, in this order; a task that it does not have was not run."""
    if matrix.tasks == tuple(tasks):
        return matrix
    place = {task: i for i, task in enumerate(matrix.tasks)}
    there = [i for i, task in enumerate(tasks) if task in place]
    columns = [place[tasks[i]] for i in there]

    def laid(values: NDArray[Any], fill: int) -> NDArray[Any]:
        found = np.full((len(matrix.models), len(tasks)), fill, dtype=values.dtype)
        found[:, there] = values[:, columns]
        return found

    weights = None
    if matrix.weights is not None:
        weights = np.ones(len(tasks))
        weights[there] = matrix.weights[columns]
    return ScoreMatrix(
        matrix.models,
        tuple(tasks),
        laid(matrix.passed, 0),
        laid(matrix.runs, 0),
        laid(matrix.lost, 0),
        laid(matrix.reasons, int(Missing.NOT_RUN)),
        weights,
    )


def _sentence(
    name: str,
    sizes: Sequence[ExperimentSize],
    wanted: str | None,
    rows: Sequence[ModelCoverage],
    matrix: ScoreMatrix,
) -> str:
    comparable = [row for row in rows if row.comparable]
    which = f"Runs of the experiment {name!r}" if name else "Runs that name no experiment"
    why = ""
    if len(sizes) > 1:
        why = " (chosen with --experiment" if wanted is not None else " (most comparable models"
        why += f"; {plural(len(sizes) - 1, 'other experiment')} not mixed in)"
    total = rows[0].of if rows else 0
    partly = [row for row in comparable if row.attempted < row.of]
    part = f" or nearly all ({plural(len(partly), 'model')} not all)" if partly else ""
    text = f"{which}{why}: {len(comparable)} of {len(rows)} models attempted all {total:,} tasks{part} and are compared"
    broken = [row for row in rows if row.attempted == row.of and not row.comparable]
    if broken:
        text += f"; {len(broken)} more attempted all, but have too few verdicts ({', '.join(r.model for r in broken)})"
    if partly:
        complete = len(matrix.complete_tasks().tasks)
        text += f"; {complete:,} of {total:,} tasks have a verdict for every compared model"
    errors, runs = sum(row.errors for row in comparable), sum(row.runs for row in comparable)
    if errors:
        worst = max(comparable, key=lambda row: row.errors)
        complete = len(matrix.complete_tasks().tasks)
        text += (
            f"; {errors:,} of their {runs:,} runs have no verdict (infrastructure or judge errors, no failures of the "
            f"model), {worst.errors:,} of them by {worst.model}, so {complete:,} of {total:,} tasks have a verdict for "
            "every compared model, and scores are taken on these"
        )
    return text + "."
