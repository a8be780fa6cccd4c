"""The versions of a benchmark (initial, issue-cleaned, hard): id, size, power, categories kept, score bounds."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from agenthard.audit.statistics import (
    CategoryRetention,
    Estimate,
    Result,
    ScoreBounds,
    ScoreMatrix,
    Undefined,
    category_coverage,
    detectable_by_test,
    may_draw_level,
    minimum_detectable_difference,
    retention,
    score_bounds,
)
from agenthard.audit.statistics.result import undefined
from agenthard.audit.statistics.separation import Z_95_80
from agenthard.reports.kit.text import plural
from agenthard.taxonomy.record import Record

SplitName = Literal["initial", "cleaned", "hard", "repaired"]

TITLES: dict[SplitName, str] = {
    "initial": "initial",
    "cleaned": "issue-cleaned",
    "hard": "hard",
    "repaired": "repaired",
}
REPORTED: tuple[SplitName, ...] = ("initial", "cleaned", "hard")
"""Splits of every report; a repaired one exists only where `agenthard repair` made it."""


class Split(Record):
    """One version of the benchmark."""

    name: SplitName
    """Which version."""
    title: str
    """Name for people."""
    split_id: str
    """Hash of the sorted task ids, 12 hexadecimal digits: equal splits have equal ids. Every table carries it."""
    n: int
    """Tasks."""
    review: int
    """Tasks in it that wait for a person; they stay in until one decides."""
    detectable: Result
    """Smallest difference of two models' scores that n tasks detect (95 % confidence, 80 % power), in score units."""
    detectable_any: Result
    """Smallest difference between any two of the models, at the error rate of the tests behind tied sets and ranges of
    ranks: all pairs are tested together, 80 % power for each."""
    sentence: str
    """The card as text: size, what was left out, smallest detectable difference, what it must not be compared with."""
    task_ids: tuple[str, ...]
    """Its tasks, in the benchmark's order."""


def split_id(tasks: Collection[str]) -> str:
    """Hash task ids into the id of a split, the same that ``ScoreMatrix.split_id`` gives.

    >>> split_id(["b", "a"]) == split_id(["a", "b"])
    True
    """
    return hashlib.sha256(json.dumps(sorted(tasks)).encode()).hexdigest()[:12]


def describe_split(
    name: SplitName,
    tasks: Sequence[str],
    *,
    review: int,
    initial: int,
    matrix: ScoreMatrix | Undefined,
) -> Split:
    """Make the card of a split.

    Args:
        name: which version.
        tasks: its tasks, in the benchmark's order.
        review: how many of them wait for a person.
        initial: tasks of the initial benchmark.
        matrix: scores of the comparable models on these tasks, or why there are none.

    Returns:
        The card.
    """
    detectable = matrix if isinstance(matrix, Undefined) else minimum_detectable_difference(matrix)
    any_two = detectable_anywhere(matrix)
    identity = split_id(tasks)
    parts = [f"{len(tasks):,} of {initial:,} tasks" if name != "initial" else f"{len(tasks):,} tasks"]
    if review and name != "initial":
        parts.append(f"{review:,} of them wait for a person")
    if isinstance(detectable, Estimate):
        parts.append(
            f"detects differences of {100 * detectable.value:.1f} points (95 % confidence, 80 % power) between "
            f"two models chosen before{_any_two(any_two)}"
        )
        if detectable.n < len(tasks):
            parts[-1] += f" on the {detectable.n:,} tasks that every compared model has a verdict on"
    else:
        parts.append(f"smallest detectable difference {detectable.reason}")
    others = ", ".join(TITLES[other] for other in REPORTED if other != name)
    parts.append(f"do not compare its scores with those of another split ({others}) or another split id")
    return Split(
        name=name,
        title=TITLES[name],
        split_id=identity,
        n=len(tasks),
        review=review,
        detectable=detectable,
        detectable_any=any_two,
        sentence=f"{TITLES[name].capitalize()} split {identity}: {'; '.join(parts)}.",
        task_ids=tuple(tasks),
    )


def detectable_anywhere(matrix: ScoreMatrix | Undefined, level: float = 0.95) -> Result:
    """Smallest difference between any two models of a board, at the family-wise error rate of its tests.

    Args:
        matrix: the scores.
        level: 1 − family-wise error rate.

    Returns:
        The difference; undefined as ``minimum_detectable_difference``, and for too few tasks.
    """
    if isinstance(matrix, Undefined):
        return matrix
    planned = minimum_detectable_difference(matrix)
    if isinstance(planned, Undefined):
        return planned
    disagreement = planned.n * (planned.value / Z_95_80) ** 2
    models = len(matrix.models)
    return detectable_by_test(planned.n, disagreement, pairs=models * (models - 1) // 2, alpha=1 - level)


def _any_two(found: Result) -> str:
    if isinstance(found, Undefined):
        return f", none between any two of its models ({found.reason})"
    return f", {100 * found.value:.1f} points between any two of its models ({found.method})"


_NAMED = 5
"""Categories named in a sentence."""


class Retention(Record):
    """How much of each category a split keeps."""

    split: SplitName
    """Which split."""
    split_id: str
    """Its id."""
    safeguard: float
    """Least share of each category that should stay, 0..1."""
    coverage: Result
    """Share of categories that still have a task."""
    rows: tuple[CategoryRetention, ...]
    """One per category, in alphabetical order."""
    sentence: str
    """Which categories fall below the safeguard, or that none does."""


class Undecided(Record):
    """What the tasks under review could do to the scores of the issue-cleaned split."""

    n: int
    """Tasks under review."""
    bounds: tuple[ScoreBounds, ...] | Undefined
    """Per model, in the order of the cleaned leaderboard: kept, dropped, least, most."""
    sentence: str
    """The largest movement of a score, and whether the top model could change."""


def retention_of(split: Split, categories: Mapping[str, str], safeguard: float) -> Retention:
    """Count what a split keeps of each category.

    Args:
        split: the split.
        categories: category by task id, for all tasks of the initial benchmark.
        safeguard: least share of each category that should stay.

    Returns:
        The table with its sentence.
    """
    rows = retention(categories, split.task_ids, safeguard)
    below = [row.category or "(no category)" for row in rows if row.below_safeguard]
    share = f"{100 * safeguard:g} %"
    if below:
        more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
        sentence = (
            f"The {split.title} split keeps less than {share} of {len(below)} of {len(rows)} categories: "
            f"{', '.join(below[:_NAMED])}{more}."
        )
    else:
        sentence = f"The {split.title} split keeps at least {share} of each of {len(rows)} categories."
    return Retention(
        split=split.name,
        split_id=split.split_id,
        safeguard=safeguard,
        coverage=category_coverage(categories, split.task_ids),
        rows=rows,
        sentence=sentence,
    )


def undecided_bounds(matrix: ScoreMatrix, review: Collection[str]) -> Undecided | Undefined:
    """Bound the scores on the issue-cleaned split over all ways to decide the tasks under review.

    Args:
        matrix: scores on the issue-cleaned split, best initial score first.
        review: its tasks under review.

    Returns:
        The bounds with their sentence; undefined when nothing is under review.
    """
    if not review:
        return undefined("no task is under review", 0, "tasks")
    bounds = score_bounds(matrix, review)
    if isinstance(bounds, Undefined):
        return Undecided(n=len(review), bounds=bounds, sentence=f"The score bounds are {bounds.reason}.")
    ordered = sorted(bounds, key=lambda row: -row.kept)
    widest = max(bounds, key=lambda row: row.most - row.least)
    sentence = (
        f"{plural(len(review), 'task')} under review can move a score by up to "
        f"{100 * (widest.most - widest.least):.1f} points ({widest.model}: {100 * widest.least:.1f} to "
        f"{100 * widest.most:.1f} %)"
    )
    return Undecided(n=len(review), bounds=tuple(ordered), sentence=f"{sentence}{_leader(ordered, matrix, review)}.")


def _leader(ordered: list[ScoreBounds], matrix: ScoreMatrix, review: Collection[str]) -> str:
    if len(ordered) < 2:
        return ""
    rivals = may_draw_level(matrix, review, ordered[0].model)
    if not rivals:
        return f"; {ordered[0].model} leads however they are decided"
    return f"; whether {ordered[0].model} leads may depend on them ({plural(len(rivals), 'model')} may draw level)"
