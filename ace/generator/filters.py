"""Filters: candidates that break at least one of their slot's own rules, and are natural in everything else."""

import numpy as np

from agenthard.ace.generator.space import Bools, Box, Floats, Ints, Space


def allowed_share(space: Space, box: Box) -> float:
    """Returns the share of natural items that a slot's rules allow.

    Args:
        space: The domain.
        box: What the rules allow.

    Returns:
        A share from 0 to 1, exact since attributes are uniform and independent.
    """
    return float(np.prod(_allowed_by_attribute(space, box)))


def draw_filters(rng: np.random.Generator, space: Space, box: Box, count: int) -> Ints:
    """Draws natural items given that they break a slot's rules.

    Nothing is drawn in vain: which attributes break their rule is drawn first, with the probability it has among
    natural items that break any, and then each value from its own side.

    Args:
        rng: Source of randomness.
        space: The domain.
        box: What the rules allow; it must leave out some natural item.
        count: How many.

    Returns:
        One row per item.
    """
    allowed = _allowed_by_attribute(space, box)
    ruled = np.flatnonzero(allowed < 1)
    broken = _patterns(len(ruled))
    chances = np.prod(np.where(broken, 1 - allowed[ruled], allowed[ruled]), axis=1)
    picked = broken[rng.choice(len(broken), size=count, p=chances / chances.sum())]
    items = space.draw(rng, box, count)
    for position, attribute in enumerate(ruled):
        below = box.low[attribute] - space.natural.low[attribute]
        above = space.natural.high[attribute] - box.high[attribute]
        number = rng.integers(0, below + above, size=count)
        outside = np.where(
            number < below, space.natural.low[attribute] + number, box.high[attribute] + 1 + number - below
        )
        items[:, attribute] = np.where(picked[:, position], outside, items[:, attribute])
    return items


def _allowed_by_attribute(space: Space, box: Box) -> Floats:
    shares: Floats = np.maximum(box.high - box.low + 1, 0) / (space.natural.high - space.natural.low + 1)
    return shares


def _patterns(attributes: int) -> Bools:
    """Every choice of attributes to break except none of them."""
    numbers = np.arange(1, 2**attributes)
    patterns: Bools = (numbers[:, None] >> np.arange(attributes)) & 1 == 1
    return patterns
