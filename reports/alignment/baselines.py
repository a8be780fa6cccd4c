"""What needs no judge: flag all, flag none, and flag at random."""

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.resampling import random_subsets
from agenthard.audit.statistics.result import Estimate, Result, undefined
from agenthard.reports.alignment.answers import Answer, Answers
from agenthard.reports.alignment.measures import Labelled, Measured, Settings, measure
from agenthard.taxonomy.record import Record

RANGE = 0.9
"""Share of the random draws that a range holds: from 5 % to 95 %."""


class RandomBaseline(Record):
    """Flagging so many of the labelled tasks at random."""

    name: str
    """How many are flagged, in words."""
    flagged: int
    """Tasks flagged in each draw."""
    labelled: int
    """Tasks to draw from."""
    precision: Result
    """Mean over the draws; the interval is the range from 5 % to 95 % of the draws."""
    recall: Result
    """The same for recall."""
    f1: Result
    """The same for F1."""


def constant_baselines(labelled: Labelled, settings: Settings) -> list[Measured]:
    """Measure *flag all*, whose precision is the prevalence, and *flag none*, which has no precision."""
    rows = []
    for name, outcome in (("flag all", Answer(outcome="flagged")), ("flag none", Answer(outcome="clean"))):
        answers = Answers(name=name, kind="baseline", by_task=dict.fromkeys(labelled.frame.tasks, outcome))
        rows.append(measure(answers, labelled, settings))
    return rows


def random_baseline(name: str, share: float, labelled: Labelled, settings: Settings) -> RandomBaseline:
    """Flag a share of the labelled tasks at random, many times.

    Args:
        name: what tables call it.
        share: share of the labelled tasks that is flagged, rounded to whole tasks.
        labelled: the labelled tasks; weights count.
        settings: number of draws and seed.
    """
    n = len(labelled.frame.tasks)
    flagged = round(share * n)
    if not flagged:
        nothing = undefined(f"{share:.3f} of {n} tasks is no task to flag", n, "tasks")
        return RandomBaseline(name=name, flagged=0, labelled=n, precision=nothing, recall=nothing, f1=nothing)
    weights, flawed = labelled.frame.weights, labelled.flawed
    draws = random_subsets(n, flagged, settings.resamples, settings.seed)
    hits = (weights * flawed)[draws].sum(axis=1)
    sizes, truth = weights[draws].sum(axis=1), float(weights @ flawed)
    method = f"mean and range of {settings.resamples} random draws of {flagged} tasks"

    def spread(values: NDArray[np.float64], name: str) -> Result:
        low, high = np.quantile(values, [(1 - RANGE) / 2, (1 + RANGE) / 2])
        return Estimate(
            value=float(np.mean(values)), low=float(low), high=float(high), level=RANGE,
            n=n, of=n, unit="tasks", method=f"{name}: {method}", seed=settings.seed,
        )  # fmt: skip

    no_truth = undefined("no labelled task is flawed", n, "tasks")
    return RandomBaseline(
        name=name,
        flagged=flagged,
        labelled=n,
        precision=spread(hits / sizes, "precision"),
        recall=spread(hits / truth, "recall") if truth else no_truth,
        f1=spread(2 * hits / (sizes + truth), "F1"),
    )
