"""How reliably a benchmark tells models apart, and where the variance of a run's outcome comes from."""

from collections.abc import Hashable, Iterable, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.matrix import ScoreMatrix, why_unusable
from agenthard.audit.statistics.result import Estimate, Result, Undefined, check_level, undefined
from agenthard.taxonomy.record import Record

_ZERO = 1e-15


class Reliability(Record):
    """Reliability of the scores of a split, and the variance of a single run by its source."""

    coefficient: Result
    """Generalizability coefficient: share of the variance of scores that models would show again on other tasks of this
    kind. For single runs KR-20 (Cronbach's alpha), with Feldt's interval."""
    standard_error: Result
    """Standard error of measurement of a score among models on these tasks, in score units."""
    standard_error_elsewhere: Result
    """The same for other tasks of this kind: their difficulty counts too."""
    model: Result
    """Share of the variance of a single run: differences of models."""
    task: Result
    """Differences of tasks."""
    model_by_task: Result
    """Models that do well on different tasks; with single runs, trials are part of it."""
    trial: Result
    """Repetitions of one model on one task; undefined without repetitions."""


def reliability(
    matrix: ScoreMatrix, *, clusters: Sequence[str] | None = None, level: float = 0.95
) -> Reliability | Undefined:
    """Split the variance of outcomes into model, task, model × task and trial, and say how reliable scores are.

    A crossed random-effects analysis of variance (Brennan 2001) on the cell means, the variance between trials from
    repeated cells. The coefficient is ``1 − MS(model × task) / MS(model)``: KR-20 for single runs of 0 and 1 (Kuder and
    Richardson 1937). Negative estimates of a component count as 0. Missing cells: complete tasks only. Weights are not
    used.

    Args:
        matrix: the scores.
        clusters: name of the cluster of each complete task; the means of clusters then take the place of tasks, because
            clones would count their own agreement as reliability. None for independent tasks.
        level: coverage of the interval.

    Returns:
        The split; undefined for fewer than two models or tasks, and when every run passes or every run fails.
    """
    check_level(level)
    complete = matrix.complete_tasks()
    reason = why_unusable(complete)
    if reason:
        return undefined(reason, len(complete.tasks), "tasks")
    values, inner, unit = complete.values, _within(complete), "tasks"
    if clusters is not None:
        values, inner = _by_cluster(values, clusters), None
        unit = "clusters of tasks"
    models, tasks = values.shape
    if tasks < 2:
        return undefined("all tasks belong to one cluster", tasks, unit)
    grand, by_model, by_task = values.mean(), values.mean(axis=1), values.mean(axis=0)
    ms_model = tasks * float(((by_model - grand) ** 2).sum()) / (models - 1)
    ms_task = models * float(((by_task - grand) ** 2).sum()) / (tasks - 1)
    residual = values - by_model[:, None] - by_task[None, :] + grand
    ms_rest = float((residual**2).sum()) / ((models - 1) * (tasks - 1))
    trial, repeats = (0.0, 1.0) if inner is None else inner
    interaction = max(0.0, ms_rest - trial / repeats)
    parts = {
        "model": max(0.0, (ms_model - ms_rest) / tasks),
        "task": max(0.0, (ms_task - ms_rest) / models),
        "model_by_task": interaction,
        "trial": trial,
    }
    shares = _shares(parts, tasks, unit, inner is not None)
    method = f"generalizability coefficient of {models} models on {tasks} {unit}"
    method += "" if not complete.binary or clusters is not None else " (KR-20)"

    def error(variance: float, words: str) -> Result:
        return Estimate(value=sqrt(variance), n=tasks, of=tasks, unit=unit, method=words)

    return Reliability(
        coefficient=_coefficient(ms_model, ms_rest, models, tasks, unit, method, level),
        standard_error=error(ms_rest / tasks, "√(MS(model × task) / n)"),
        standard_error_elsewhere=error((ms_rest + parts["task"]) / tasks, "√((MS(model × task) + σ²(task)) / n)"),
        **shares,
    )


def _coefficient(
    ms_model: float, ms_rest: float, models: int, tasks: int, unit: str, method: str, level: float
) -> Result:
    if ms_model < _ZERO:
        return undefined("all models have the same score", tasks, unit)
    value = 1 - ms_rest / ms_model
    from scipy.special import fdtri

    # Feldt 1965: (1 − ρ)/(1 − estimate) is F with M − 1 and (M − 1)(n − 1) degrees of freedom.
    first, second = models - 1, (models - 1) * (tasks - 1)
    low, high = (1 - (1 - value) * float(fdtri(first, second, q)) for q in ((1 + level) / 2, (1 - level) / 2))
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        n=tasks,
        of=tasks,
        unit=unit,
        method=f"{method}; Feldt's interval",
    )


def _shares(parts: dict[str, float], tasks: int, unit: str, repeated: bool) -> dict[str, Result]:
    total = sum(parts.values())
    method = "share of the variance of a single run, analysis of variance"
    found: dict[str, Result] = {
        name: Estimate(value=part / total, n=tasks, of=tasks, unit=unit, method=method)
        if total > _ZERO
        else undefined("all outcomes are equal", tasks, unit)
        for name, part in parts.items()
    }
    if not repeated:
        found["trial"] = undefined("no cell has repeated runs, so trials are part of model × task", 0, unit)
    return found


def _within(matrix: ScoreMatrix) -> tuple[float, float] | None:
    """Variance between runs of a cell, and the harmonic mean of runs per cell; None where no run is repeated."""
    runs = matrix.runs.astype(np.float64)
    spare = float((runs - 1).sum())
    if matrix.fractional or spare < 1:
        return None
    share = matrix.values
    return float((runs * share * (1 - share)).sum() / spare), float(1 / (1 / runs).mean())


def _by_cluster(values: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    member = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = np.zeros((member.max() + 1, len(values)))
    np.add.at(sums, member, values.T)
    return np.asarray((sums / np.bincount(member)[:, None]).T)


def facet_variance(rows: Iterable[tuple[Hashable, Hashable, float]], facet: str) -> Result:
    """Variance that a facet of the measurement adds, such as the user simulator or the judge.

    One-way random effects within cells, pooled over cells: ``(SS(between) − df · MS(within)) / Σ (N − Σ n² / N)``.
    Where no level of the facet is repeated within a cell, MS(within) is unknown: the result is then the variance of
    single outcomes, which holds that of repetition too, and says so.

    Args:
        rows: (cell, level of the facet, outcome), such as ((model, task), simulator, 1.0) or (run, judge, score).
        facet: what the levels are, in words.

    Returns:
        The variance, at least 0; n is the number of cells with two levels or more. Undefined when there is none.
    """
    cells: dict[Hashable, dict[Hashable, list[float]]] = {}
    for cell, level, value in rows:
        cells.setdefault(cell, {}).setdefault(level, []).append(value)
    between = within = size = 0.0
    df_between = df_within = used = 0
    for levels in cells.values():
        if len(levels) < 2:
            continue
        used += 1
        groups = [np.array(values) for values in levels.values()]
        counts, everything = np.array([len(group) for group in groups]), np.concatenate(groups)
        between += sum(len(group) * float(group.mean() - everything.mean()) ** 2 for group in groups)
        within += sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
        df_between += len(groups) - 1
        df_within += len(everything) - len(groups)
        size += float(len(everything) - (counts**2).sum() / len(everything))
    if not used:
        return undefined(f"no cell was measured with two or more {facet}s", 0, "cells")
    repeated = df_within > 0
    error = within / df_within if repeated else 0.0
    method = f"variance between {facet}s within cells, analysis of variance"
    method += "" if repeated else f"; no {facet} is repeated within a cell, so repetition is part of it"
    value = max(0.0, (between - df_between * error) / size)
    return Estimate(value=value, n=used, of=len(cells), unit="cells", method=method)
