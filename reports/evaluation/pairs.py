"""Which agents differ: paired tests inside families and between neighbours on the leaderboard, corrected together."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil

import numpy as np
import pandas as pd

from agenthard.audit.statistics import (
    Estimate,
    Missing,
    PairedTest,
    Result,
    ScoreMatrix,
    Undefined,
    compare_pairs,
    holm,
    minimum_detectable_difference,
    paired_gap,
)
from agenthard.reports.evaluation.episodes import About
from agenthard.taxonomy.record import Record

PAIR_RESAMPLES = 4000


class PairResult(Record):
    """Two agents, compared on the tasks that both have a verdict on."""

    first: str
    """Agent that ranks higher."""
    second: str
    """The other agent."""
    family: str
    """Family of both; empty when they are neighbours of different families."""
    adjacent: bool
    """Whether they are neighbours on the leaderboard."""
    n: int
    """Tasks that both have a verdict on."""
    of: int
    """Tasks that either was run on."""
    difference: Result
    """Mean score per task of the first minus that of the second, with a paired t interval over tasks."""
    test: PairedTest
    """mcnemar: exact, for single trials. bootstrap: paired, over tasks, where trials repeat."""
    p: float | None
    """Two-sided p-value; None when the pair cannot be tested."""
    adjusted_p: float | None
    """p-value after Holm's correction over all tested pairs of this report."""
    significant: bool | None
    """Whether the adjusted p-value is at most 1 − level; None when the pair cannot be tested."""
    detectable: Result
    """Smallest difference that these tasks would detect in 80 % of cases."""
    reason: str
    """Why the pair cannot be tested; empty when it was."""


def score_matrix(final: pd.DataFrame, agents: Sequence[str]) -> ScoreMatrix:
    """Collect verdicts in a matrix of agents × tasks; trials of one task share a cell."""
    tasks = sorted(final["task_id"].unique())
    row = final["agent"].map({agent: i for i, agent in enumerate(agents)}).to_numpy(dtype=np.intp)
    column = final["task_id"].map({task: i for i, task in enumerate(tasks)}).to_numpy(dtype=np.intp)
    verdict = final["verdict"].to_numpy(dtype=np.float64)
    passed, runs, lost = (np.zeros((len(agents), len(tasks)), np.int32) for _ in range(3))
    known = ~np.isnan(verdict)
    np.add.at(passed, (row[known], column[known]), verdict[known].astype(np.int32))
    np.add.at(runs, (row[known], column[known]), 1)
    np.add.at(lost, (row[~known], column[~known]), 1)
    reasons = np.where(lost > 0, Missing.NO_VERDICT, np.where(runs == 0, Missing.NOT_RUN, 0)).astype(np.int8)
    return ScoreMatrix(tuple(agents), tuple(tasks), passed, runs, lost, reasons)


def compare_agents(matrix: ScoreMatrix, families: Mapping[str, str], about: About) -> tuple[PairResult, ...]:
    """Test the pairs inside families and the neighbours on the leaderboard; Holm's correction is over all of them.

    Args:
        matrix: agents × tasks, in the order of the leaderboard.
        families: agent → family.
        about: level and seed.

    Returns:
        Pairs in the order of the leaderboard; one that cannot be tested has a reason and no part in Holm's correction.
    """
    pairs = [
        (i, j)
        for i, j in combinations(range(len(matrix.models)), 2)
        if j == i + 1 or families[matrix.models[i]] == families[matrix.models[j]]
    ]
    resamples = max(PAIR_RESAMPLES, ceil(2 * len(pairs) / (1 - about.level)))
    tested = [_pair(matrix, i, j, families, about, resamples) for i, j in pairs]
    with_p = [k for k, pair in enumerate(tested) if pair.p is not None]
    for k, adjusted in zip(with_p, holm([tested[k].p or 0.0 for k in with_p]), strict=True):
        update = {"adjusted_p": adjusted, "significant": adjusted <= 1 - about.level + 1e-12}
        tested[k] = tested[k].model_copy(update=update)
    return tuple(tested)


def _pair(matrix: ScoreMatrix, i: int, j: int, families: Mapping[str, str], about: About, resamples: int) -> PairResult:
    first, second = matrix.models[i], matrix.models[j]
    part = matrix.keep_models([first, second])
    either = int(((part.runs + part.lost) > 0).any(axis=0).sum())
    part = part.complete_tasks()
    test: PairedTest = "mcnemar" if part.binary else "bootstrap"
    found = compare_pairs(part, test=test, alpha=1 - about.level, resamples=resamples, seed=about.seed)
    gap = paired_gap(part.values[0].tolist(), part.values[1].tolist(), list(part.tasks), about.level)
    if isinstance(gap, Estimate):
        gap = gap.model_copy(update={"of": either, "unit": "tasks"})
    family = families[first]
    return PairResult(
        first=first,
        second=second,
        family=family if family == families[second] else "",
        adjacent=j == i + 1,
        n=len(part.tasks),
        of=either,
        difference=gap,
        test=test,
        p=None if isinstance(found, Undefined) else found[0].p,
        adjusted_p=None,
        significant=None,
        detectable=minimum_detectable_difference(part),
        reason=found.reason if isinstance(found, Undefined) else "",
    )
