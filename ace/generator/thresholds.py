"""Thresholds of the global rules, derived from the truth grid."""

import numpy as np

from agenthard.ace.domain import GlobalKind
from agenthard.ace.generator.scaffold import Scaffold
from agenthard.ace.generator.space import Ints, RuleColumns

_TIGHT = 0.02
"""Most slack of a sum, as a share of the natural range of one item's attribute."""


def draw_thresholds(rng: np.random.Generator, scaffold: Scaffold) -> tuple[dict[str, int], Ints]:
    """Draws a threshold for every global rule that the truth grid meets.

    The paper draws the slack from a wide range, under which most rules exclude nothing and many instances admit no
    decoy at all. Here it is drawn from the part of that range in which a single item can use it up.

    Args:
        rng: Source of randomness.
        scaffold: The frame with the truth grid.

    Returns:
        Threshold by name of rule, and the slack by column: how much more than the truth each may be loaded.
    """
    totals = scaffold.loads.sum(axis=0)
    limits: dict[str, int] = {}
    slack = np.zeros_like(totals)
    for columns in scaffold.space.rules:
        own = slice(columns.first, columns.first + columns.count)
        measured = int(totals[own].max())
        room = int(rng.integers(0, _most_slack(scaffold, columns, measured) + 1))
        limits[columns.rule.name] = columns.sign * (measured + room)
        slack[own] = measured + room - totals[own]
    return limits, slack


def _most_slack(scaffold: Scaffold, columns: RuleColumns, measured: int) -> int:
    """The most that the threshold may lie from what the truth measures, in units of the measure."""
    rule, box = columns.rule, scaffold.space.natural
    cells = len(scaffold.truth)
    one_item = int(box.high[columns.attribute] - box.low[columns.attribute])
    match rule.kind:
        case GlobalKind.SUM_MAX:
            most = min(rule.slack, int(one_item * _TIGHT))
            return most if rule.limit is None else max(0, min(most, rule.limit * cells - measured))
        case GlobalKind.SUM_MIN:
            most = min(rule.slack, int(one_item * _TIGHT))
            return most if rule.limit is None else max(0, min(most, -measured - rule.limit))
        case GlobalKind.REPEAT_MAX:
            return 0
        case GlobalKind.COUNT_MIN | GlobalKind.COUNT_MIN_THRESHOLD | GlobalKind.MAX_ROW_SUM:
            return 0
