"""One-slot look-ahead: how well a candidate fits the global rules while every other slot stays open.

This is no give-away but a little reasoning: it reads the global rules and nothing that is hidden. Where it finds the
truth, a slot can be solved on its own and the instance asks for no search over combinations.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ace.domain import Domain, GlobalKind, GlobalRule
from ace.instance import Item, Puzzle
from ace.rules import broken_slot_rules

Floats = NDArray[np.float64]

_LOG_FLOOR = -50.0
"""Least logarithm of a probability: a rule that cannot be met any more counts this much, and two count twice."""


def look_ahead(domain: Domain, puzzle: Puzzle) -> list[list[float]]:
    """Score every candidate of every slot.

    Each other slot is taken to hold one of the candidates that meet its own rules, all equally likely. What a global
    rule measures then has a mean and a variance, and the score is the sum, over the global rules, of the logarithm of
    the normal probability that the rule is met. With no other slot this is the exact check.

    Args:
        domain: The puzzle's domain.
        puzzle: The puzzle.

    Returns:
        Scores by slot and candidate, in the order of the puzzle; higher fits better, 0 is certain to fit.
    """
    offered = [[puzzle.items[id] for id in slot.candidates] for slot in puzzle.slots]
    allowed = [
        [item for item in items if not broken_slot_rules(domain, slot.limits, item)] or items
        for slot, items in zip(puzzle.slots, offered, strict=True)
    ]
    fixed = [[puzzle.items[id] for id in row if id is not None] for row in puzzle.grid]
    scores = [np.zeros(len(items)) for items in offered]
    for rule in domain.global_rules:
        limit = puzzle.limits[rule.name]
        for part in _parts(rule, fixed, allowed):
            rows = range(puzzle.rows) if rule.kind is GlobalKind.MAX_ROW_SUM else (None,)
            for row in rows:
                within = [index for index, slot in enumerate(puzzle.slots) if row in (None, slot.row)]
                given = sum(sum(map(part, items)) for at, items in enumerate(fixed) if row in (None, at))
                _add(scores, rule, limit - given, part, within, offered, allowed)
    return [values.tolist() for values in scores]


def _parts(
    rule: GlobalRule, fixed: Sequence[Sequence[Item]], allowed: Sequence[Sequence[Item]]
) -> list[Callable[[Item], float]]:
    """What each item adds to the rule's measure; a repeat rule has one measure per value."""
    key = rule.attribute
    match rule.kind:
        case GlobalKind.REPEAT_MAX:
            values = sorted({str(item[key]) for items in (*fixed, *allowed) for item in items})
            return [lambda item, value=value: float(str(item[key]) == value) for value in values]  # type: ignore[misc]
        case GlobalKind.COUNT_MIN:
            return [lambda item: float(item[key] == rule.counted)]
        case GlobalKind.COUNT_MIN_THRESHOLD:
            return [lambda item: float(int(item[key]) >= int(rule.counted or 0))]
        case _:
            return [lambda item: float(item[key])]


def _add(
    scores: Sequence[Floats],
    rule: GlobalRule,
    room: float,
    part: Callable[[Item], float],
    slots: Sequence[int],
    offered: Sequence[Sequence[Item]],
    allowed: Sequence[Sequence[Item]],
) -> None:
    """Add one rule's log probability to the scores of the given slots, when these have ``room`` left between them."""
    values = {index: np.array([part(item) for item in allowed[index]]) for index in slots}
    mean, variance = sum(v.mean() for v in values.values()), sum(v.var() for v in values.values())
    for index in slots:
        own = np.array([part(item) for item in offered[index]])
        margin = room - (own + mean - values[index].mean())
        margin = -margin if rule.kind.is_floor else margin
        scores[index][:] += _log_probability(margin, math.sqrt(max(variance - values[index].var(), 0.0)))


def _log_probability(margin: Floats, spread: float) -> Floats:
    # Measures are whole numbers, so half a unit is added: the limit itself is allowed.
    if spread < 1e-9:
        return np.where(margin > -0.5, 0.0, _LOG_FLOOR)
    normal = NormalDist()
    return np.array([max(math.log(normal.cdf(z) or 1e-300), _LOG_FLOOR) for z in (margin + 0.5) / spread])
