"""One-slot look-ahead: how well a candidate fits the global rules while every other slot stays open.

This is not a give-away but a little reasoning: it reads the global rules and nothing that is hidden. Where it finds the
truth, a slot can be solved on its own and the instance asks for no search over combinations.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agenthard.ace.domain import Domain, GlobalKind, GlobalRule
from agenthard.ace.instance import Item, Puzzle, Slot
from agenthard.ace.rules import broken_slot_rules

Floats = NDArray[np.float64]

_LOG_FLOOR = -50.0
"""Least logarithm of a probability: a rule that cannot be met any more counts this much, and two count twice."""


@dataclass(frozen=True, slots=True)
class _Outlook:
    """What a global rule promises for the candidates of one slot."""

    slot: int
    """Index of the slot."""
    margins: Floats
    """By candidate: how far inside its limit the rule's measure stays when the other slots are at their mean."""
    spread: float
    """Standard deviation that the other slots add to the measure."""
    limit: int
    """The rule's threshold."""


def look_ahead(domain: Domain, puzzle: Puzzle) -> dict[str, list[list[float]]]:
    """Score every candidate of every slot in two ways.

    Each other slot is taken to hold one of the candidates that meet its own rules, all equally likely.

    ``mean``: the least margin over the global rules, as a share of the rule's threshold, with the other slots at
    their mean; below 0 some rule is broken. ``probability``: the sum, over the global rules, of the logarithm of the
    probability that the rule is met, by a normal approximation with the other slots' mean and variance; 0 is certain
    to fit. The second is the stronger solver; with no other slot both are the exact check.

    Args:
        domain: The puzzle's domain.
        puzzle: The puzzle.

    Returns:
        For each way, the scores by slot and candidate in the order of the puzzle; higher fits better.
    """
    margin = [np.full(len(slot.candidates), np.inf) for slot in puzzle.slots]
    probability = [np.zeros(len(slot.candidates)) for slot in puzzle.slots]
    for outlook in _outlooks(domain, puzzle):
        share = outlook.margins / max(outlook.limit, 1)
        np.minimum(margin[outlook.slot], share, out=margin[outlook.slot])
        probability[outlook.slot] += _log_probability(outlook)
    return {
        "mean": [np.round(scores, 12).tolist() for scores in margin],
        "probability": [np.round(scores, 12).tolist() for scores in probability],
    }


def _outlooks(domain: Domain, puzzle: Puzzle) -> Iterator[_Outlook]:
    offered = [[puzzle.items[id] for id in slot.candidates] for slot in puzzle.slots]
    allowed = [_allowed(domain, slot, items) for slot, items in zip(puzzle.slots, offered, strict=True)]
    fixed = [[puzzle.items[id] for id in row if id is not None] for row in puzzle.grid]
    for rule in domain.global_rules:
        limit = puzzle.limits[rule.name]
        sign = -1 if rule.kind.is_floor else 1
        for part in _parts(rule, fixed, offered):
            own = [np.array([part(item) for item in items]) for items in offered]
            means = np.array([values[ok].mean() for values, ok in zip(own, allowed, strict=True)])
            variances = np.array([values[ok].var() for values, ok in zip(own, allowed, strict=True)])
            for rows in _regions(rule, puzzle.rows):
                within = [index for index, slot in enumerate(puzzle.slots) if slot.row in rows]
                given = sum(part(item) for row in rows for item in fixed[row])
                for slot in within:
                    others = means[within].sum() - means[slot]
                    spread = max(variances[within].sum() - variances[slot], 0.0) ** 0.5
                    yield _Outlook(slot, sign * (limit - given - others - own[slot]), spread, limit)


def _allowed(domain: Domain, slot: Slot, items: Sequence[Item]) -> NDArray[np.bool_]:
    """Which items the slot may hold by its own rules; all, should these exclude every one."""
    allowed = np.array([not broken_slot_rules(domain, slot.limits, item) for item in items])
    return allowed if allowed.any() else ~allowed


def _regions(rule: GlobalRule, rows: int) -> list[range]:
    """The rows that the rule measures together."""
    return [range(row, row + 1) for row in range(rows)] if rule.kind is GlobalKind.MAX_ROW_SUM else [range(rows)]


def _parts(
    rule: GlobalRule, fixed: Sequence[Sequence[Item]], offered: Sequence[Sequence[Item]]
) -> list[Callable[[Item], float]]:
    """What an item adds to the rule's measure; a repeat rule has one measure per value."""
    key = rule.attribute
    if rule.kind is GlobalKind.REPEAT_MAX:
        return [_equals(key, value) for value in sorted({item[key] for items in (*fixed, *offered) for item in items})]
    if rule.kind is GlobalKind.COUNT_MIN:
        return [_equals(key, rule.counted)]
    if rule.kind is GlobalKind.COUNT_MIN_THRESHOLD:
        least = int(rule.counted or 0)
        return [lambda item: float(int(item[key]) >= least)]
    return [lambda item: float(item[key])]


def _equals(key: str, value: object) -> Callable[[Item], float]:
    return lambda item: float(item[key] == value)


def _log_probability(outlook: _Outlook) -> Floats:
    from scipy.special import log_ndtr

    # Measures are whole numbers, so half a unit is added: the limit itself is allowed.
    if outlook.spread < 1e-6:
        return np.where(outlook.margins > -0.5, 0.0, _LOG_FLOOR)
    logarithm: Floats = log_ndtr((outlook.margins + 0.5) / outlook.spread)
    return np.maximum(logarithm, _LOG_FLOOR)
