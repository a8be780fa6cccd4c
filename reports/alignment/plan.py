"""How many labels a wanted precision of the figures costs, before labelling starts."""

from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from agenthard.audit.statistics.intervals import effective_wilson
from agenthard.reports.alignment.sampling import sample_size
from agenthard.taxonomy.record import Record

PlanDesign = Literal["random", "balanced", "best split"]


class Expected(Record):
    """Expected values before labelling."""

    tasks: int = Field(ge=2)
    """Tasks of the benchmark."""
    precision: float = Field(gt=0, lt=1)
    """Precision of the flags."""
    recall: float = Field(gt=0, lt=1)
    """Recall of the flags."""
    prevalence: float = Field(gt=0, lt=1)
    """Share of flawed tasks."""
    level: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of the intervals."""

    @model_validator(mode="after")
    def _possible(self) -> "Expected":
        if not 0 < self.flagged_share < 1 or self.missed_share >= 1:
            raise ValueError(
                f"precision {self.precision:g}, recall {self.recall:g} and prevalence {self.prevalence:g} contradict "
                f"each other: {self.flagged_share:.0%} of the tasks would be flagged"
            )
        return self

    @property
    def flagged_share(self) -> float:
        """Share of the tasks that is flagged: recall · prevalence / precision."""
        return self.recall * self.prevalence / self.precision

    @property
    def flagged_tasks(self) -> int:
        """Flagged tasks of the benchmark, at least one and not all."""
        return min(self.tasks - 1, max(1, round(self.flagged_share * self.tasks)))

    @property
    def missed_share(self) -> float:
        """Share of the unflagged tasks that is flawed."""
        return self.prevalence * (1 - self.recall) / (1 - self.flagged_share)


class PlanRow(Record):
    """One design with its number of labels, and the precision that it gives."""

    design: PlanDesign
    """random: tasks of the whole benchmark; balanced: half flagged; best split: the fewest labels that reach it."""
    goal: str
    """What the number of labels was chosen for."""
    labels: int
    """Labels."""
    flagged: int
    """Of these, on flagged tasks (expected, for random)."""
    half_precision: float
    """Half the width of the interval of precision, at the expected values."""
    half_recall: float
    """Half the width of the interval of recall."""


class Plan(Record):
    """The table of the planner."""

    expected: Expected
    """What was assumed."""
    rows: tuple[PlanRow, ...]
    """For each goal the three designs, then what the usual sample gives."""
    method: str = (
        "half of the Wilson interval at the effective number of tasks, with the finite population correction; recall "
        "of a balanced sample by weights, its variance by the delta method"
    )
    """How the widths were computed."""


def make_plan(expected: Expected, half_widths: tuple[float, ...], share: float = 0.1, least: int = 30) -> Plan:
    """Find the labels that each design needs for each half width, for precision and recall both.

    The number is the smallest whose interval, at the expected values, is not wider; a real sample can come out wider or
    narrower.

    Args:
        expected: what is assumed.
        half_widths: wanted halves of the intervals' widths (0.1 for ± 10 points).
        share: share of the benchmark that the usual sample has.
        least: tasks it has at least.

    Raises:
        ValueError: when a half width lies outside 0..0.5.
    """
    if not all(0 < half < 0.5 for half in half_widths):
        raise ValueError(f"a half width lies between 0 and 0.5, got {half_widths}")
    rows = []
    for half in half_widths:
        goal = f"± {half:g} on precision and recall"
        for design in _DESIGNS:
            rows.append(_row(expected, design, goal, _smallest(expected, design, half)))
        rows.append(_row(expected, "best split", goal, _best_split(expected, half)))
    usual = sample_size(expected.tasks, share, least)
    goal = f"{share:.0%} of the tasks, at least {least}"
    rows += [_row(expected, design, goal, sides(expected, usual)) for design, sides in _DESIGNS.items()]
    return Plan(expected=expected, rows=tuple(rows))


class _Sides(NamedTuple):
    """Labels on flagged and on unflagged tasks."""

    flagged: float
    unflagged: float
    by_side: bool
    """Whether the two sides are drawn separately, so that their sizes are fixed."""


def _random(expected: Expected, labels: int) -> _Sides:
    flagged = labels * expected.flagged_share
    return _Sides(flagged, labels - flagged, by_side=False)


def _balanced(expected: Expected, labels: int) -> _Sides:
    there = expected.flagged_tasks
    flagged = min(there, labels // 2)
    unflagged = min(expected.tasks - there, labels - flagged)
    return _Sides(labels - unflagged, unflagged, by_side=True)


_DESIGNS: dict[PlanDesign, Callable[[Expected, int], _Sides]] = {"random": _random, "balanced": _balanced}


def _row(expected: Expected, design: PlanDesign, goal: str, sides: _Sides) -> PlanRow:
    precision, recall = _halves(expected, sides)
    return PlanRow(
        design=design,
        goal=goal,
        labels=round(sides.flagged + sides.unflagged),
        flagged=round(sides.flagged),
        half_precision=precision,
        half_recall=recall,
    )


def _halves(expected: Expected, sides: _Sides) -> tuple[float, float]:
    """Half the widths of the intervals of precision and of recall."""
    there = expected.flagged_tasks
    rest = expected.tasks - there
    if not sides.by_side:
        labels = sides.flagged + sides.unflagged
        unseen = 1 - labels / expected.tasks
        return (
            _half(expected.precision, _over(sides.flagged, unseen), expected.level),
            _half(expected.recall, _over(labels * expected.prevalence, unseen), expected.level),
        )
    unseen, unseen_rest = 1 - sides.flagged / there, 1 - sides.unflagged / rest
    precision, missed, recall = expected.precision, expected.missed_share, expected.recall
    # recall = A / (A + B) with A flawed tasks among the flagged and B among the rest; so its logit is log A − log B.
    if not sides.flagged or (not sides.unflagged and unseen_rest):
        return _half(precision, _over(sides.flagged, unseen), expected.level), 0.5
    relative = (1 - precision) / precision * unseen / sides.flagged
    relative += (1 - missed) / missed * unseen_rest / sides.unflagged if unseen_rest else 0.0
    effective = 1 / (recall * (1 - recall) * relative) if relative > 0 else inf
    return _half(precision, _over(sides.flagged, unseen), expected.level), _half(recall, effective, expected.level)


def _half(rate: float, effective: float, level: float) -> float:
    if not effective:
        return 0.5
    if effective == inf:
        return 0.0
    low, high = effective_wilson(rate, effective, level)
    return (high - low) / 2


def _over(labels: float, unseen: float) -> float:
    return labels / unseen if unseen > 0 else inf


def _smallest(expected: Expected, design: PlanDesign, half: float) -> _Sides:
    sides = _DESIGNS[design]
    enough = bisect_left(range(expected.tasks), True, key=lambda n: max(_halves(expected, sides(expected, n))) <= half)
    return sides(expected, enough)


def _best_split(expected: Expected, half: float) -> _Sides:
    """Fewest labels with which both intervals are narrow enough, over all ways to divide them."""
    there = expected.flagged_tasks
    rest = expected.tasks - there

    def enough(flagged: int, unflagged: int) -> bool:
        return max(_halves(expected, _Sides(flagged, unflagged, by_side=True))) <= half

    def precise(flagged: int) -> bool:
        return _halves(expected, _Sides(flagged, 0, by_side=True))[0] <= half

    least = bisect_left(range(there), True, key=precise)
    best = _Sides(there, rest, by_side=True)
    for flagged in range(least, there + 1):
        if flagged >= best.flagged + best.unflagged:
            break
        unflagged = bisect_left(range(rest), True, key=partial(enough, flagged))
        if flagged + unflagged < best.flagged + best.unflagged:
            best = _Sides(flagged, unflagged, by_side=True)
    return best
