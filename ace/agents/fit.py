"""How well choices fit the global rules, by what an agent knows and as far as it knows it.

Each rule is written as sums with upper limits (ace.proof.sums). A sum over choices that are still open, or over values
that are not known exactly, has a mean and a variance; by a normal approximation it stays below its limit with some
probability. A choice fits as well as the logarithms of these probabilities add up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agenthard.ace.agents.brief import Brief
from agenthard.ace.agents.notes import Notes
from agenthard.ace.instance import Item, Value
from agenthard.ace.proof.sums import Sum, sums

Floats: TypeAlias = NDArray[np.float64]

_LOG_FLOOR = -50.0
"""Least logarithm of a probability, so that two broken rules count twice."""
_MOST_VALUES = 16
"""A wider range of possible values is represented by about so many of them."""
_WIDTH = 512
"""Partial choices that are kept while the best are looked for."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the survivors of every slot add to every sum: mean and variance, by survivor and sum."""

    means: list[Floats]
    """By slot."""
    variances: list[Floats]
    """By slot."""
    room: Floats
    """What the fixed items leave of each limit."""
    blur: Floats
    """Variance of that."""


def weigh(brief: Brief, notes: Notes) -> Weights:
    """Works out what each survivor adds to each sum.

    Args:
        brief: The task.
        notes: What is known.

    Returns:
        The weights; a slot without survivors has one choice, which adds nothing.
    """
    fields = brief.global_fields
    taken = {id: {field: _thinned(notes.summand(id, field)) for field in fields} for id in notes.ids()}
    # A repeat rule has a sum per value that may occur, so each possible value occurs in some item.
    met = {field: list(dict.fromkeys(v for values in taken.values() for v in values[field])) for field in fields}
    longest = max(map(len, met.values()), default=0)
    items: dict[str, Item] = {
        str(number): {field: some[number % len(some)] for field, some in met.items()} for number in range(longest)
    }
    every = list(sums(brief.domain, replace(brief.puzzle, items=items)))
    fixed = [
        _moments(every, taken[id], row) for row, line in enumerate(brief.puzzle.grid) for id in line if id is not None
    ]
    own = [
        np.array([_moments(every, taken[id], slot.row) for id in left] or np.zeros((1, 2, len(every))))
        for slot, left in zip(brief.puzzle.slots, notes.survivors, strict=True)
    ]
    given = np.array(fixed).sum(axis=0) if fixed else np.zeros((2, len(every)))
    limits = np.array([each.limit for each in every], dtype=np.float64)
    return Weights([each[:, 0] for each in own], [each[:, 1] for each in own], limits - given[0], given[1])


def best_alone(weights: Weights) -> list[int]:
    """Chooses for each slot what fits best while every other slot is taken at its mean.

    Args:
        weights: What choices add.

    Returns:
        Index of a survivor by slot.
    """
    mean, variance = _open(weights)
    chosen = []
    for own, spread in zip(range(len(weights.means)), weights.variances, strict=True):
        others = mean.sum(axis=0) - mean[own]
        blur = weights.blur + variance.sum(axis=0) - variance[own]
        scores = _fit(weights.room - others - weights.means[own], blur + spread)
        chosen.append(int(scores.argmax()))
    return chosen


def best_together(weights: Weights) -> Iterator[list[int]]:
    """Looks for the choices over all slots that fit best, keeping the most promising partial ones.

    Args:
        weights: What choices add.

    Yields:
        Index of a survivor by slot, best first.
    """
    mean, variance = _open(weights)
    order = sorted(range(len(weights.means)), key=lambda slot: (len(weights.means[slot]), slot))
    totals, blurs = np.zeros((1, len(weights.room))), weights.blur[None, :]
    choices = np.zeros((1, 0), dtype=np.int64)
    for depth, slot in enumerate(order):
        rest = order[depth + 1 :]
        count, width = len(totals), len(weights.means[slot])
        totals = (totals[:, None] + weights.means[slot]).reshape(count * width, -1)
        blurs = (blurs[:, None] + weights.variances[slot]).reshape(count * width, -1)
        scores = _fit(weights.room - totals - mean[rest].sum(axis=0), blurs + variance[rest].sum(axis=0))
        kept = np.argsort(-scores, kind="stable")[:_WIDTH]
        totals, blurs = totals[kept], blurs[kept]
        choices = np.concatenate([choices[kept // width], (kept % width)[:, None]], axis=1)
    for choice in choices.tolist():
        by_slot = dict(zip(order, choice, strict=True))
        yield [by_slot[slot] for slot in range(len(order))]


def _open(weights: Weights) -> tuple[Floats, Floats]:
    """Mean and variance of each slot while it is open: all survivors equally likely."""
    mean = np.array([each.mean(axis=0) for each in weights.means])
    within = [each.mean(axis=0) for each in weights.variances]
    between = [each.var(axis=0) for each in weights.means]
    return mean, np.array([a + b for a, b in zip(within, between, strict=True)])


def _fit(margins: Floats, variances: Floats) -> Floats:
    from scipy.special import log_ndtr

    spread = np.sqrt(np.maximum(variances, 0.0))
    certain = spread < 1e-6
    # Sums are whole numbers, so half a unit is added: the limit itself is allowed.
    logs = log_ndtr((margins + 0.5) / np.where(certain, 1.0, spread))
    logs = np.where(certain, np.where(margins > -0.5, 0.0, _LOG_FLOOR), np.maximum(logs, _LOG_FLOOR))
    total: Floats = logs.sum(axis=-1)
    return np.round(total, 9)


def _moments(every: Sequence[Sum], values: dict[str, Sequence[Value]], row: int) -> tuple[list[float], list[float]]:
    """Mean and variance of what an item adds to each sum."""
    means, variances = [], []
    for each in every:
        field = each.rule.attribute
        loads = [each.load({field: value}, row) for value in values[field]]
        mean = sum(loads) / len(loads)
        means.append(mean)
        variances.append(sum((load - mean) ** 2 for load in loads) / len(loads) if len(loads) > 1 else 0.0)
    return means, variances


def _thinned(values: Sequence[Value]) -> Sequence[Value]:
    return values[:: -(-len(values) // _MOST_VALUES)]
