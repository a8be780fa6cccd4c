"""The data behind the figures: agreement heat maps, separability against n, component shares, difficulty of tasks."""

from typing import Literal

from agenthard.audit.statistics import Result
from agenthard.reports.cleaning.nulls import NullBand
from agenthard.reports.cleaning.splits import SplitName
from agenthard.taxonomy.record import Record


class AgreementMap(Record):
    """Agreement of every pair of models on one split, for a heat map."""

    split: SplitName
    """Which split."""
    split_id: str
    """Its id."""
    n: int
    """Tasks."""
    models: tuple[str, ...]
    """Rows and columns, best initial rank first."""
    values: tuple[tuple[float | None, ...], ...]
    """Share of common tasks on which both models are right or both wrong; None without a common task. Diagonal 1."""


class CurvePoint(Record):
    """Separability of random subsets of one size."""

    n: int
    """Tasks in each subset."""
    band: NullBand
    """Mean and 5–95 % over the draws, in percent."""


class CurveMark(Record):
    """Where a split stands in the curve."""

    split: SplitName
    """Which split."""
    n: int
    """Its tasks."""
    separability: Result
    """Its separability, in percent."""


class SeparabilityCurve(Record):
    """Separability against the number of tasks: random subsets as a band, the splits as marks."""

    points: tuple[CurvePoint, ...]
    """Random subsets of the initial split, by rising n."""
    marks: tuple[CurveMark, ...]
    """The splits."""
    resamples: int
    """Bootstrap resamples behind each separability."""
    method: str
    """How the curve was made."""


class CategoryShare(Record):
    """Findings of one category."""

    category: str
    """Category id."""
    findings: int
    """Findings."""
    tasks: int
    """Tasks they touch."""


class ComponentShare(Record):
    """Findings in one of the four parts of a task; signals, which only order a queue, are counted apart."""

    component: str
    """user, environment, evaluation or ground_truth."""
    title: str
    """Name for people."""
    confirmed: int
    """Confirmed findings."""
    suspected: int
    """Suspected findings."""
    signals: int
    """Signals."""
    tasks: int
    """Tasks that a confirmed or suspected finding touches."""
    share: Result
    """Confirmed and suspected findings of this component among those of all components."""
    categories: tuple[CategoryShare, ...]
    """Confirmed and suspected findings by category, most first."""


class ItemPoint(Record):
    """One task in the difficulty–discrimination plane."""

    task_id: str
    """Task."""
    category: str
    """Its category or domain."""
    difficulty: Result
    """2PL: b, log-odds that an average model fails. Item-rest: share of models that fail it."""
    discrimination: Result
    """2PL: a. Item-rest: correlation with the score on the other tasks. Negative: weaker models do better."""
    flagged: bool
    """Whether a confirmed or suspected finding touches it."""
    decision: Literal["keep", "unchecked", "drop", "review"]
    """What the policy decided."""


class ItemMap(Record):
    """Difficulty and discrimination of tasks."""

    method: str
    """2PL with how it was fitted, or item-rest and why no 2PL."""
    points: tuple[ItemPoint, ...]
    """Tasks with both numbers, in the benchmark's order."""
    left_out: int
    """Tasks without: every model passes or fails them, or no model has a score."""
    models: int
    """Models behind the numbers."""
