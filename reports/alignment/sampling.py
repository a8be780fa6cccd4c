"""Which tasks people should label: half of them flagged, or spread over the scores; with the weights to undo that."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Literal

import numpy as np
from pydantic import Field

from agenthard.reports.alignment.answers import Answers
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record

Design = Literal["balanced", "by_score"]
BINS = 5
"""Strata of equal width that scores from 0 to 1 are cut into."""


class SampleError(AgentHardError):
    """No sample can be drawn; the message says what is missing."""

    code = "AH703"
    remedy = "Provide what the message names, or draw the sample without `--by-score`."


class Stratum(Record):
    """A part of the benchmark that was sampled by itself."""

    name: str
    """What its tasks have in common."""
    population: int
    """Its tasks."""
    sampled: int
    """Those drawn from it, at random and without replacement."""


class SampledTask(Record):
    """One task of a sample."""

    task_id: str
    """Task."""
    stratum: str
    """Stratum it was drawn from."""
    weight: float = Field(gt=0)
    """Inverse of its probability to be drawn: population / sampled of its stratum."""


class SampleKey(Record):
    """How a sample was drawn. Kept apart from the sheet, because strata tell what the judge said."""

    schema_version: Literal["1"] = "1"
    """Version of this layout."""
    design: Design
    """balanced: half flagged; by_score: over strata of the score."""
    drawn_by: str
    """Whose flags, or which score, made the strata."""
    benchmark: dict[str, str] = Field(default_factory=dict)
    """Label and content hash of the benchmark."""
    not_asked: int = 0
    """Tasks of the benchmark that nobody was asked about; they are no part of the population."""
    seed: int
    """Seed of the draw."""
    strata: tuple[Stratum, ...]
    """All strata that have a task."""
    tasks: tuple[SampledTask, ...]
    """The sample, in the order of the sheet, which is random."""


def sample_size(population: int, share: float, least: int) -> int:
    """Tasks to label: a share of the benchmark, at least so many, at most all.

    >>> sample_size(278, 0.1, 30), sample_size(4441, 0.1, 30), sample_size(20, 0.1, 30)
    (30, 445, 20)
    """
    return min(population, max(least, ceil(share * population)))


def sample_balanced(answers: Answers, task_ids: Sequence[str], size: int, seed: int) -> SampleKey:
    """Draw as many flagged as unflagged tasks; where one side has too few, the other fills up.

    Tasks without a verdict (undecided, error) are a stratum of their own, drawn in proportion.

    Args:
        answers: who flagged what.
        task_ids: all tasks that were asked about.
        size: tasks to draw.
        seed: seed of the draw.

    Raises:
        SampleError: when there is no task.
    """
    strata: dict[str, list[str]] = {"flagged": [], "unflagged": [], "no verdict": []}
    for task_id in task_ids:
        flagged = answers.by_task[task_id].flagged
        strata["no verdict" if flagged is None else "flagged" if flagged else "unflagged"].append(task_id)
    open_share = len(strata["no verdict"]) / max(1, len(task_ids))
    fixed = {"no verdict": min(len(strata["no verdict"]), ceil(open_share * size))}
    return _draw("balanced", answers.name, strata, fixed, size, seed)


def sample_by_score(
    scores: Mapping[str, float], source: str, task_ids: Sequence[str], size: int, seed: int
) -> SampleKey:
    """Draw equally many tasks from each fifth of the scores; strata with too few leave their part to the others.

    Args:
        scores: a number from 0 to 1 per task; tasks without one are a stratum of their own.
        source: what the score is.
        task_ids: all tasks that were asked about.
        size: tasks to draw.
        seed: seed of the draw.

    Raises:
        SampleError: when no task has a score.
    """
    if not any(task_id in scores for task_id in task_ids):
        raise SampleError(f"no task has a {source}")
    names = [f"{source} {low / BINS:g} to {(low + 1) / BINS:g}" for low in range(BINS)]
    strata: dict[str, list[str]] = {name: [] for name in (*names, f"no {source}")}
    for task_id in task_ids:
        score = scores.get(task_id)
        # The small amount keeps a score that stands on a border, such as 3 * 0.2, in the upper stratum.
        name = f"no {source}" if score is None else names[min(BINS - 1, int(score * BINS + 1e-9))]
        strata[name].append(task_id)
    return _draw("by_score", source, strata, {}, size, seed)


def pass_rates(passed: Mapping[tuple[str, str], Sequence[bool]]) -> dict[str, float]:
    """Mean over the models of each task's share of passed runs.

    Args:
        passed: verdicts of the runs by (task, model); runs without a verdict are not among them.
    """
    by_task: dict[str, list[float]] = {}
    for (task_id, _), verdicts in passed.items():
        if verdicts:
            by_task.setdefault(task_id, []).append(sum(verdicts) / len(verdicts))
    return {task_id: sum(rates) / len(rates) for task_id, rates in by_task.items()}


def _draw(
    design: Design, drawn_by: str, strata: Mapping[str, Sequence[str]], fixed: Mapping[str, int], size: int, seed: int
) -> SampleKey:
    population = sum(map(len, strata.values()))
    if not population:
        raise SampleError("there is no task that was asked about")
    rest = {name: len(members) for name, members in strata.items() if name not in fixed}
    counts = {**fixed, **_equal_parts(rest, min(size, population) - sum(fixed.values()))}
    rng = np.random.default_rng(seed)
    drawn = []
    for name, members in strata.items():
        for position in sorted(rng.choice(len(members), counts[name], replace=False)) if members else ():
            weight = len(members) / counts[name]
            drawn.append(SampledTask(task_id=members[position], stratum=name, weight=weight))
    order = rng.permutation(len(drawn))
    return SampleKey(
        design=design,
        drawn_by=drawn_by,
        seed=seed,
        strata=tuple(Stratum(name=n, population=len(m), sampled=counts[n]) for n, m in strata.items() if m),
        tasks=tuple(drawn[position] for position in order),
    )


def _equal_parts(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide ``total`` equally; what a stratum lacks is divided among the others."""
    parts = dict.fromkeys(sizes, 0)
    left = min(total, sum(sizes.values()))
    while left > 0:
        hungry = [name for name in sizes if parts[name] < sizes[name]]
        for place, name in enumerate(hungry):
            wanted = left // (len(hungry) - place)
            taken = min(wanted, sizes[name] - parts[name])
            parts[name] += taken
            left -= taken
    return parts
