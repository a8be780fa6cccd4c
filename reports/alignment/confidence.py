"""How far a judge's confidence can be trusted: reliability against labels, by cross-validation, per category."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.decisions.judging import Calibration, Reporting, log_odds
from agenthard.audit.judge.verdict import CheckedVerdict
from agenthard.audit.statistics.calibration import FEWEST, brier, cross_validated, fit_curve, reliability
from agenthard.reports.alignment.truth import Names, Truth
from agenthard.reports.kit.markdown import Section
from agenthard.taxonomy.record import Record

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Edges of the bins: the prompt asks for no flaw at .5 or below."""
FOLDS = 5
COSTS = (0.5, 1.0, 2.0, 4.0)
"""Costs of a wrong flag whose thresholds are shown."""


class Claim(NamedTuple):
    """One flaw that a judge reports with verified evidence and that execution did not settle."""

    task_id: str
    """Task."""
    category: str
    """Category."""
    confidence: float
    """What the judge states."""


class BinRow(Record):
    """One bin of a reliability curve."""

    low: float
    """Least probability."""
    high: float
    """Probability below which it ends."""
    n: int
    """Claims in it."""
    mean: float
    """Mean probability of them."""
    right: int
    """Claims that the labels confirm."""
    observed_low: float
    """Lower end of the 95 % interval of the share that is right."""
    observed_high: float
    """Upper end."""


class ConfidenceRow(Record):
    """The claims of one category, or all."""

    name: str
    """Category, or "all"."""
    claims: int
    """Claims on labelled tasks."""
    right: int
    """Claims that the labels confirm."""
    brier_stated: float
    """Brier score of the stated confidences."""
    brier_calibrated: float | None
    """Brier score of the probabilities by cross-validation; None without a curve."""
    curve: Calibration | None
    """Curve on all these claims, for the policy; None where there are too few, or it does not rise."""
    why_none: str
    """Why a curve is missing."""


class Confidence(Record):
    """How far confidences can be trusted."""

    rows: tuple[ConfidenceRow, ...]
    """All claims, then by category, most claims first."""
    stated: tuple[BinRow, ...]
    """Reliability of the stated confidences."""
    calibrated: tuple[BinRow, ...]
    """Reliability of the probabilities by cross-validation; empty without a curve."""
    folds: int
    """Folds, by task or cluster."""
    seed: int
    """Seed by which tasks were dealt to folds."""
    data: str
    """Labels, and that figures on labels that were used for fitting are development figures."""


def claims_of(verdicts: Sequence[CheckedVerdict]) -> list[Claim]:
    """List the verified claims of all judges; what execution proved needs no confidence."""
    return [
        Claim(verdict.task_id, each.issue.category, each.issue.confidence)
        for verdict in verdicts
        for each in verdict.issues
        if each.standing == "verified"
    ]


def confidence(
    claims: Sequence[Claim], truth: Sequence[Truth], names: Names, labels: str, seed: int
) -> Confidence | None:
    """Compare the confidence of claims with labels; None without a claim on a labelled task.

    A claim is right when its task is labelled flawed, in the component of the claim's category where labels name one.

    Args:
        claims: the claims.
        truth: the labelled tasks.
        names: the words of the label set.
        labels: what to call the labels.
        seed: seed of the folds.
    """
    by_id = {each.task_id: each for each in truth}
    known = [claim for claim in claims if claim.task_id in by_id]
    if not known:
        return None
    right = np.array([_is_right(claim, by_id[claim.task_id], names) for claim in known], dtype=np.bool_)
    groups = [by_id[claim.task_id].cluster or claim.task_id for claim in known]
    odds = np.array([log_odds(claim.confidence) for claim in known])
    stated = np.array([claim.confidence for claim in known])
    held = cross_validated(odds, right, groups, FOLDS, seed)
    usable = np.isfinite(held)
    categories: dict[str, list[int]] = {}
    for place, claim in enumerate(known):
        categories.setdefault(claim.category, []).append(place)
    ranked = sorted(categories, key=lambda name: (-len(categories[name]), name))
    parts = {"all": list(range(len(known))), **{name: categories[name] for name in ranked}}
    rows = []
    for name, places in parts.items():
        group = [groups[place] for place in places]
        own = held if name == "all" else cross_validated(odds[places], right[places], group, FOLDS, seed)
        rows.append(_row(name, odds[places], stated[places], right[places], own, labels))
    kept = [group for group, use in zip(groups, usable, strict=True) if use]
    return Confidence(
        rows=tuple(rows),
        stated=_bins(stated, right, groups),
        calibrated=_bins(held[usable], right[usable], kept) if usable.any() else (),
        folds=FOLDS,
        seed=seed,
        data=labels,
    )


def _is_right(claim: Claim, truth: Truth, names: Names) -> bool:
    component = names.component(None, names.category(claim.category))
    return truth.flawed and (not truth.components or component is None or component in truth.components)


def _row(
    name: str, odds: NDArray[Any], stated: NDArray[Any], right: NDArray[Any], held: NDArray[Any], labels: str
) -> ConfidenceRow:
    curve, k = fit_curve(odds, right), int(right.sum())
    why = ""
    if curve is None:
        few = f"fewer than {FEWEST} claims" if len(right) < FEWEST else "all claims are right, or all wrong"
        why = few
    elif curve.slope <= 0:
        why = "confidence does not rise with the share that is right"
    usable = np.isfinite(held)
    return ConfidenceRow(
        name=name,
        claims=len(right),
        right=k,
        brier_stated=brier(stated, right),
        brier_calibrated=brier(held[usable], right[usable]) if usable.any() else None,
        curve=None
        if curve is None or why
        else Calibration(slope=round(curve.slope, 4), intercept=round(curve.intercept, 4), labels=labels),
        why_none=why,
    )


def _bins(probability: NDArray[Any], right: NDArray[Any], groups: Sequence[str]) -> tuple[BinRow, ...]:
    return tuple(
        BinRow(
            low=each.low,
            high=each.high,
            n=each.n,
            mean=each.stated,
            right=each.right,
            observed_low=each.interval[0],
            observed_high=each.interval[1],
        )
        for each in reliability(probability, right, groups, EDGES)
    )


def confidence_sections(found: Confidence) -> list[Section]:
    """Lay out the reliability curves, the rows by category, and what a threshold costs."""
    columns = ("probability", "claims", "mean", "right", "95 % interval")
    note = "Verified claims that execution did not settle. Development figures: the curve was fitted on these labels."
    return [
        Section("Confidence as stated", note, columns, list(map(_bin, found.stated))),
        Section(
            "Confidence calibrated",
            f"Out of {found.folds} folds of tasks or clusters, seed {found.seed}."
            if found.calibrated
            else f"No curve: {found.rows[0].why_none}.",
            columns,
            list(map(_bin, found.calibrated)),
        ),
        Section(
            "Confidence by category",
            "A curve is for `judging.reporting` of the policy.",
            ("category", "claims", "right", "Brier, stated", "Brier, calibrated", "curve: slope, intercept"),
            list(map(_category, found.rows)),
        ),
        Section(
            "Reporting threshold",
            "The stated confidence from which a flaw is reported, by the cost of a wrong flag (a missed flaw costs 1).",
            ("false_flag_cost", "probability", "stated confidence"),
            [_threshold(cost, found.rows[0].curve) for cost in COSTS],
        ),
    ]


def _bin(row: BinRow) -> tuple[str, ...]:
    share = f"{row.right}/{row.n} = {row.right / row.n:.2f}"
    interval = f"[{row.observed_low:.2f}, {row.observed_high:.2f}]"
    return f"{row.low:.2f} to {row.high:.2f}", str(row.n), f"{row.mean:.2f}", share, interval


def _category(row: ConfidenceRow) -> tuple[str, ...]:
    calibrated = "" if row.brier_calibrated is None else f"{row.brier_calibrated:.3f}"
    curve = row.why_none if row.curve is None else f"{row.curve.slope:.2f}, {row.curve.intercept:+.2f}"
    return row.name, str(row.claims), str(row.right), f"{row.brier_stated:.3f}", calibrated, curve


def _threshold(cost: float, curve: Calibration | None) -> tuple[str, ...]:
    wanted = Reporting(false_flag_cost=cost).threshold
    stated = wanted
    if curve is not None:
        stated = float(1 / (1 + np.exp(-(log_odds(wanted) - curve.intercept) / curve.slope)))
    return f"{cost:g}", f"{wanted:.2f}", f"{stated:.2f}"
