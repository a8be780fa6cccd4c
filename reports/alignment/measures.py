"""Precision, recall and F1 of one way of flagging, and of baselines that need no judge."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics.rates import prevalence_adjusted_precision
from agenthard.audit.statistics.resampling import random_subsets
from agenthard.audit.statistics.result import Estimate, Result, undefined
from agenthard.audit.statistics.sampling_frame import LEVEL, Mask, SamplingFrame
from agenthard.reports.alignment.answers import Answer, Answers
from agenthard.reports.alignment.truth import Truth
from agenthard.taxonomy.record import Record


class Measured(Record):
    """How well one way of flagging agrees with the labels."""

    name: str
    """Who flags."""
    kind: Literal["audit", "judge", "baseline"]
    """Rules and judge together, a judge alone, or something to compare with."""
    answered: int
    """Labelled tasks with a verdict (k)."""
    labelled: int
    """Labelled tasks (N)."""
    undecided: int
    """Labelled tasks on which it abstained or could not tell."""
    errors: int
    """Labelled tasks on which it failed; neither flagged nor clean."""
    not_asked: int
    """Labelled tasks that it was not asked about."""
    true_positives: int
    """Flawed and flagged, unweighted."""
    false_positives: int
    """Sound and flagged."""
    false_negatives: int
    """Flawed and not flagged."""
    true_negatives: int
    """Sound and not flagged."""
    precision: Result
    """Share of the flagged tasks that are flawed."""
    recall: Result
    """Share of the flawed tasks that are flagged."""
    f1: Result
    """Harmonic mean of the two."""
    adjusted: Result
    """Precision at the prevalence that the table names."""


@dataclass(frozen=True)
class Settings:
    """Parameters of every figure of a comparison."""

    prevalence: float = 0.1
    """Share of flawed tasks at which precision is adjusted."""
    resamples: int = 2000
    """Resamples of every bootstrap, and draws of random baselines."""
    seed: int = 0
    """Seed of every draw."""


@dataclass(frozen=True)
class Labelled:
    """The labelled tasks with their truth, in one order."""

    truth: tuple[Truth, ...]
    """Truth of each task."""
    frame: SamplingFrame
    """The same tasks, with clusters and weights."""

    @property
    def flawed(self) -> Mask:
        """Which tasks are flawed."""
        return np.array([task.flawed for task in self.truth], dtype=np.bool_)

    def answered(self, answers: Answers) -> tuple[Mask, Mask]:
        """Which tasks were flagged, and which have a verdict."""
        verdicts = [answers.by_task[t].flagged if t in answers.by_task else None for t in self.frame.tasks]
        return (
            np.array([verdict is True for verdict in verdicts], dtype=np.bool_),
            np.array([verdict is not None for verdict in verdicts], dtype=np.bool_),
        )


def measure(answers: Answers, labelled: Labelled, settings: Settings) -> Measured:
    """Compare answers with the labels.

    Tasks without a verdict count neither for nor against; ``answered`` of ``labelled`` says how many there are.

    Args:
        answers: who flagged what.
        labelled: the labelled tasks.
        settings: parameters.
    """
    flagged, answered = labelled.answered(answers)
    flawed = labelled.flawed & answered
    frame = labelled.frame
    given = Counter(answers.by_task[t].outcome if t in answers.by_task else "not asked" for t in frame.tasks)
    tp, fp = int((flagged & flawed).sum()), int((flagged & ~flawed).sum())
    fn, tn = int((flawed & ~flagged).sum()), int((answered & ~flagged & ~flawed).sum())
    return Measured(
        name=answers.name,
        kind=answers.kind,
        answered=int(answered.sum()),
        labelled=len(frame.tasks),
        undecided=given["undecided"],
        errors=given["error"],
        not_asked=given["not asked"],
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        true_negatives=tn,
        precision=frame.rate(flawed, flagged, "flagged tasks"),
        recall=frame.rate(flagged, flawed, "flawed tasks"),
        f1=frame.f1(flagged, flawed, answered, resamples=settings.resamples, seed=settings.seed),
        adjusted=_adjusted(tp, fn, fp, tn, labelled, settings),
    )


def _adjusted(tp: int, fn: int, fp: int, tn: int, labelled: Labelled, settings: Settings) -> Result:
    if labelled.frame.strata is not None:
        reason = "the sample is weighted: its precision holds at the benchmark's own prevalence already"
        return undefined(reason, tp + fp, "flagged tasks")
    found = prevalence_adjusted_precision(tp, fn, fp, tn, settings.prevalence, LEVEL)
    if labelled.frame.clusters is None or not isinstance(found, Estimate):
        return found
    method = f"{found.method}; no interval, because tasks come in clusters"
    return found.model_copy(update={"low": None, "high": None, "level": None, "method": method})


RANGE = 0.9
"""Share of the random draws that a range holds: from 5 % to 95 %."""


class RandomBaseline(Record):
    """Flagging so many of the labelled tasks at random."""

    name: str
    """How many are flagged, as text."""
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
        nothing = undefined(f"{share:.3f} of {n} tasks leaves no task to flag", n, "tasks")
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
