"""The three versions of a benchmark: initial, issue-cleaned and hard, each with its id, size and power."""

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Literal

from agenthard.audit.statistics import Estimate, Result, ScoreMatrix, Undefined, minimum_detectable_difference
from agenthard.taxonomy.record import Record

SplitName = Literal["initial", "cleaned", "hard"]

TITLES: dict[SplitName, str] = {"initial": "initial", "cleaned": "issue-cleaned", "hard": "hard"}


class Split(Record):
    """One version of the benchmark, as a card says it."""

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
    sentence: str
    """The card in words: size, what was left out, smallest detectable difference, what it must not be compared with."""
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
    identity = split_id(tasks)
    parts = [f"{len(tasks):,} of {initial:,} tasks" if name != "initial" else f"{len(tasks):,} tasks"]
    if review and name != "initial":
        parts.append(f"{review:,} of them wait for a person")
    if isinstance(detectable, Estimate):
        parts.append(f"detects differences of {100 * detectable.value:.1f} points (95 % confidence, 80 % power)")
        if detectable.n < len(tasks):
            parts[-1] += f" on the {detectable.n:,} tasks that every compared model has a verdict on"
    else:
        parts.append(f"smallest detectable difference {detectable.reason}")
    others = ", ".join(TITLES[other] for other in TITLES if other != name)
    parts.append(f"do not compare its scores with those of another split ({others}) or another split id")
    return Split(
        name=name,
        title=TITLES[name],
        split_id=identity,
        n=len(tasks),
        review=review,
        detectable=detectable,
        sentence=f"{TITLES[name].capitalize()} split {identity}: {'; '.join(parts)}.",
        task_ids=tuple(tasks),
    )
