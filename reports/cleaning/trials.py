"""Repeated runs on a leaderboard: pass^k, pass@k, and the reliability of the scores of a split."""

from collections.abc import Mapping
from math import sqrt

from agenthard.audit.statistics import (
    Estimate,
    Reliability,
    Result,
    ScoreMatrix,
    Undefined,
    pass_at_k,
    pass_hat_k,
    reliability,
)
from agenthard.audit.statistics.rank_nulls import named
from agenthard.reports.cleaning.runs import RunsUsed
from agenthard.reports.kit.text import amount, plural, result_text, sentence
from agenthard.taxonomy.record import Record

_ALL_UP_TO = 4
"""Up to so many trials every k is shown; above, the powers of two and the largest."""


class ModelTrials(Record):
    """One model's probabilities of success in k trials."""

    model: str
    """Model."""
    all_of: tuple[Result, ...]
    """pass^k for each k: all k trials of a task succeed."""
    any_of: tuple[Result, ...]
    """pass@k for each k: at least one of k trials succeeds."""


class TrialTable(Record):
    """pass^k and pass@k of the models of a leaderboard, each on the tasks of its score."""

    ks: tuple[int, ...]
    """The numbers of trials."""
    rows: tuple[ModelTrials, ...]
    """In the order of the leaderboard."""


def trial_table(counts: Mapping[str, list[tuple[int, int]]], level: float) -> TrialTable | None:
    """Make the table.

    Args:
        counts: (successes, scored trials) of each task by model, in the order of the leaderboard.
        level: coverage of intervals.

    Returns:
        The table; None where no task has two trials.
    """
    most = max((n for own in counts.values() for _, n in own), default=0)
    if most < 2:
        return None
    ks = tuple(k for k in range(1, most + 1) if most <= _ALL_UP_TO or k == most or k & (k - 1) == 0)
    return TrialTable(
        ks=ks,
        rows=tuple(
            ModelTrials(
                model=model,
                all_of=tuple(pass_hat_k(own, k, level) for k in ks),
                any_of=tuple(pass_at_k(own, k, level) for k in ks),
            )
            for model, own in counts.items()
        ),
    )


def trial_columns(table: TrialTable) -> tuple[str, ...]:
    """Head the columns of ``trial_cells``."""
    return ("model", *(f"pass^{k}" for k in table.ks), *(f"pass@{k}" for k in table.ks if k > 1))


def trial_cells(table: TrialTable) -> list[tuple[str, ...]]:
    """Write the table; pass@1 is pass^1."""
    return [
        (row.model, *(_short(each) for each in row.all_of), *(_short(each) for each in row.any_of[1:]))
        for row in table.rows
    ]


def _short(result: Result) -> str:
    return amount(result.value, "share") if isinstance(result, Estimate) else "–"


def reliability_of(matrix: ScoreMatrix, clusters: Mapping[str, str] | None, level: float) -> Reliability | Undefined:
    """Compute the reliability of the scores of a split."""
    complete = matrix.complete_tasks()
    return reliability(complete, clusters=named(complete.tasks, clusters), level=level)


def reliability_text(found: Reliability | Undefined) -> str:
    """Write the reliability of a split in one sentence."""
    if isinstance(found, Undefined):
        return f"Reliability is {found.reason}."
    parts = {
        "models": found.model,
        "tasks": found.task,
        "models × tasks": found.model_by_task,
        "trials": found.trial,
    }
    shares = ", ".join(f"{name} {result_text(part, 'share')}" for name, part in parts.items() if _has(part))
    alone = "" if _has(found.trial) else "; trials are part of models × tasks, because no run is repeated"
    return (
        f"Reliability {result_text(found.coefficient, 'agreement')}; standard error of measurement "
        f"{result_text(found.standard_error, 'points')}, {result_text(found.standard_error_elsewhere, 'points')} for "
        f"other tasks of this kind. Variance of a single run: {shares}{alone}."
    )


def facets_text(runs: RunsUsed) -> str:
    """Write what user simulators and judges add to the variance; empty where neither was varied."""
    found = {"the user simulator": runs.simulator, "the judge": runs.judge}
    words = [
        f"{name} adds a standard deviation of {result_text(_root(each), 'points')} to an outcome "
        f"({plural(each.n, 'cell')}, {each.method})"
        for name, each in found.items()
        if isinstance(each, Estimate)
    ]
    return sentence("; ".join(words))


def _root(variance: Estimate) -> Estimate:
    return variance.model_copy(update={"value": sqrt(variance.value)})


def _has(result: Result) -> bool:
    return isinstance(result, Estimate)
