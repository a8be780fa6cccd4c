"""One-slot look-ahead: how well a candidate fits the global rules while every other slot stays open.

This is not a give-away but a little reasoning: it reads the global rules and nothing that is hidden. Where it finds the
truth, a slot can be solved on its own and the instance asks for no search over combinations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from agenthard.ace.domain import Domain, GlobalKind, GlobalRule
from agenthard.ace.instance import Item, Puzzle, Slot
from agenthard.ace.rules import meets

Floats = NDArray[np.float64]

_LOG_FLOOR = -50.0
"""Least logarithm of a probability: a rule that cannot be met any more counts this much, and two count twice."""

_FAR = 9.0
_LEAST_SPREAD = 0.3
"""A measure that the other slots hardly change counts as spread by this much."""


@dataclass(frozen=True, slots=True)
class _Outlook:
    """What a global rule promises for the candidates of the slots that it measures together."""

    rule: str
    """Name of the rule."""
    rows: NDArray[np.int64]
    """Positions of the candidates among those of all slots."""
    margins: Floats
    """By candidate: how far inside its limit the rule's measure stays when the other slots are at their mean."""
    spread: Floats
    """By candidate: standard deviation that the other slots add to the measure."""
    limit: int
    """The rule's threshold."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What looking at one slot at a time says of the candidates, by slot and candidate in the order of the puzzle."""

    scores: dict[str, list[list[float]]]
    """By way to look; higher fits better."""
    margins: dict[str, list[list[float]]]
    """By global rule: how far inside the rule the whole stays with the candidate, in standard deviations of what the
    other slots may add, the least where a rule limits several sums; at most 9 either way."""


def look_ahead(domain: Domain, puzzle: Puzzle) -> Looks:
    """Look at every candidate of every slot, with each other slot at any candidate that meets its own rules.

    Two ways to score are stated. ``mean``: the least margin over the global rules, as a share of the rule's threshold,
    with the other slots at their mean; below 0 some rule is broken. ``probability``: the sum, over the global rules, of
    the logarithm of the probability that the rule is met, by a normal approximation with the other slots' mean and
    variance; 0 is certain to fit. The second is the stronger solver; with no other slot both are the exact check.

    Args:
        domain: The puzzle's domain.
        puzzle: The puzzle.

    Returns:
        The scores of both ways, and the margins to each rule.
    """
    sizes = [len(slot.candidates) for slot in puzzle.slots]
    least, probability = np.full(sum(sizes), np.inf), np.zeros(sum(sizes))
    margins = {rule.name: np.full(sum(sizes), _FAR) for rule in domain.global_rules}
    for outlook in _outlooks(domain, puzzle):
        rows = outlook.rows
        least[rows] = np.minimum(least[rows], outlook.margins / max(outlook.limit, 1))
        probability[rows] += _log_probability(outlook)
        share = (outlook.margins + 0.5) / np.maximum(outlook.spread, _LEAST_SPREAD)
        margins[outlook.rule][rows] = np.minimum(margins[outlook.rule][rows], share)
    ends = np.cumsum(sizes)[:-1].tolist()

    def by_slot(values: Floats, digits: int) -> list[list[float]]:
        rounded = np.round(values, digits).tolist()
        return [rounded[start:end] for start, end in pairwise([0, *ends, len(rounded)])]

    return Looks(
        scores={"mean": by_slot(least, 12), "probability": by_slot(probability, 12)},
        margins={name: by_slot(np.maximum(each, -_FAR), 6) for name, each in margins.items()},
    )


def _outlooks(domain: Domain, puzzle: Puzzle) -> Iterator[_Outlook]:
    fixed = [(row, puzzle.items[id]) for row, ids in enumerate(puzzle.grid) for id in ids if id is not None]
    offered = [[puzzle.items[id] for id in slot.candidates] for slot in puzzle.slots]
    items = [*(item for _, item in fixed), *chain.from_iterable(offered)]
    allowed = [_allowed(domain, slot, each) for slot, each in zip(puzzle.slots, offered, strict=True)]
    ends = np.cumsum([len(items) for items in offered])
    alike = _by_number([end - len(ok) + np.flatnonzero(ok) for end, ok in zip(ends, allowed, strict=True)])
    slot_of = np.repeat(np.arange(len(offered)), [len(items) for items in offered])
    row_of = np.array([slot.row for slot in puzzle.slots], dtype=np.int64)
    fixed_row = np.array([row for row, _ in fixed], dtype=np.int64)
    for rule in domain.global_rules:
        limit = puzzle.limits[rule.name]
        sign = -1 if rule.kind.is_floor else 1
        for part in _parts(rule, items):
            given, measured = part[: len(fixed)], part[len(fixed) :]
            means, variances = np.empty(len(offered)), np.empty(len(offered))
            for slots, rows in alike:
                values = measured[rows]
                means[slots], variances[slots] = values.mean(axis=1), values.var(axis=1)
            for region in _regions(rule, puzzle.rows):
                within = (row_of >= region.start) & (row_of < region.stop)
                if not within.any():
                    continue
                known = given[(fixed_row >= region.start) & (fixed_row < region.stop)].sum()
                others = means[within].sum() - means
                spread = np.maximum(variances[within].sum() - variances, 0.0) ** 0.5
                chosen = np.flatnonzero(within[slot_of])
                owner = slot_of[chosen]
                margins = sign * (limit - known - others[owner] - measured[chosen])
                yield _Outlook(rule.name, chosen, margins, spread[owner], limit)


def _by_number(rows: Sequence[NDArray[np.int64]]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Put the slots that may hold equally many candidates together: the slots, and one line of positions for each."""
    numbers = np.array([len(each) for each in rows])
    groups = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    return [(slots, np.stack([rows[slot] for slot in slots.tolist()])) for slots in groups]


def _allowed(domain: Domain, slot: Slot, items: Sequence[Item]) -> NDArray[np.bool_]:
    """Which items the slot may hold by its own rules; all, should these exclude every one."""
    rules = [(domain.slot_rule(name), limit) for name, limit in slot.limits.items()]
    allowed = np.array([all(meets(rule, limit, item) for rule, limit in rules) for item in items])
    return allowed if allowed.any() else ~allowed


def _regions(rule: GlobalRule, rows: int) -> list[range]:
    """The rows that the rule measures together."""
    return [range(row, row + 1) for row in range(rows)] if rule.kind is GlobalKind.MAX_ROW_SUM else [range(rows)]


def _parts(rule: GlobalRule, items: Sequence[Item]) -> Iterator[Floats]:
    """Yield what each item adds to the rule's measure; a repeat rule has one measure per value."""
    values = [item[rule.attribute] for item in items]
    if rule.kind is GlobalKind.REPEAT_MAX:
        place = {value: number for number, value in enumerate(sorted(set(values)))}
        codes = np.array([place[value] for value in values])
        yield from ((codes == code).astype(float) for code in place.values())
    elif rule.kind is GlobalKind.COUNT_MIN:
        yield np.array([float(value == rule.counted) for value in values])
    elif rule.kind is GlobalKind.COUNT_MIN_THRESHOLD:
        least = int(rule.counted or 0)
        yield np.array([float(int(value) >= least) for value in values])
    else:
        yield np.array([float(value) for value in values])


def _log_probability(outlook: _Outlook) -> Floats:
    from scipy.special import log_ndtr

    # Measures are whole numbers, so half a unit is added: the limit itself is allowed.
    settled = outlook.spread < 1e-6
    spread = np.where(settled, 1.0, outlook.spread)
    logarithm = np.maximum(log_ndtr((outlook.margins + 0.5) / spread), _LOG_FLOOR)
    return np.where(settled, np.where(outlook.margins > -0.5, 0.0, _LOG_FLOOR), logarithm)
