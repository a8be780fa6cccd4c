"""A domain as arrays: what items can be, and how much each loads the global rules.

Every global rule becomes one or several *columns*, so written that a grid meets the rule when the loads of its items
add up to at most the column's limit: a sum or a count with a floor counts negatively, a repeat rule has one column per
value, a row rule one per row. All checks then are comparisons of sums of integer vectors.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agenthard.ace import domains
from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Number
from agenthard.ace.instance import Value

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Box:
    """The items a slot's rules allow, as a range per attribute; the words of an attribute count from 0."""

    low: Ints
    """Smallest allowed value by attribute."""
    high: Ints
    """Largest allowed value by attribute."""


@dataclass(frozen=True, slots=True)
class RuleColumns:
    """The columns of one global rule."""

    rule: GlobalRule
    """The rule."""
    attribute: int
    """Index of its attribute."""
    first: int
    """Its first column."""
    count: int
    """How many columns it has."""
    counted: int
    """For a count rule: the value counted, or the least value counted; else 0."""

    @property
    def sign(self) -> int:
        """-1 for a rule that asks for at least its threshold, else 1."""
        return -1 if self.rule.kind.is_floor else 1


@dataclass(frozen=True, slots=True)
class Space:
    """All items of a domain, and the columns of its global rules on a grid of some number of rows."""

    domain: Domain
    """The domain."""
    natural: Box
    """What an item can be when no slot rule limits it."""
    is_number: Bools
    """By attribute: True where it holds a number."""
    rules: tuple[RuleColumns, ...]
    """The global rules, in the domain's order."""
    columns: int
    """Number of columns."""

    def index(self, attribute: str) -> int:
        """Returns the position of an attribute.

        Args:
            attribute: Its name.

        Returns:
            Its index in every array of items.
        """
        return [each.name for each in self.domain.attributes].index(attribute)

    def box(self, limits: dict[str, int]) -> Box:
        """Returns the items that meet slot rules.

        Args:
            limits: Threshold by name of slot rule.

        Returns:
            Their ranges; empty (low above high) where no natural item meets them.
        """
        low, high = self.natural.low.copy(), self.natural.high.copy()
        for name, threshold in limits.items():
            rule = self.domain.slot_rule(name)
            at = self.index(rule.attribute)
            if rule.bound is Bound.MAX:
                high[at] = min(high[at], threshold)
            else:
                low[at] = max(low[at], threshold)
        return Box(low, high)

    def draw(self, rng: np.random.Generator, box: Box, count: int) -> Ints:
        """Draws natural items, each attribute uniform and independent.

        Args:
            rng: Source of randomness.
            box: Where from.
            count: How many.

        Returns:
            One row per item, one column per attribute.
        """
        return rng.integers(box.low, box.high + 1, size=(count, len(box.low)), dtype=np.int64)

    def loads(self, items: Ints, row: int) -> Ints:
        """Returns how much items load the global rules.

        Args:
            items: One row per item.
            row: The row of the grid they would be in.

        Returns:
            One row per item, one column per column of the rules.
        """
        out = np.zeros((len(items), self.columns), dtype=np.int64)
        for columns in self.rules:
            values, first = items[:, columns.attribute], columns.first
            match columns.rule.kind:
                case GlobalKind.SUM_MAX | GlobalKind.SUM_MIN:
                    out[:, first] = columns.sign * values
                case GlobalKind.COUNT_MIN:
                    out[:, first] = np.where(values == columns.counted, -1, 0)
                case GlobalKind.COUNT_MIN_THRESHOLD:
                    out[:, first] = np.where(values >= columns.counted, -1, 0)
                case GlobalKind.MAX_ROW_SUM:
                    out[:, first + row] = values
                case GlobalKind.REPEAT_MAX:
                    out[np.arange(len(items)), first + values - self.natural.low[columns.attribute]] = 1
        return out

    def values(self, item: Ints) -> list[Value]:
        """Returns the values of an item as files show them.

        Args:
            item: One row of an array of items.

        Returns:
            A number or a word for each attribute, in the domain's order.
        """
        return [
            attribute.values[number] if isinstance(attribute, Choice) else number
            for attribute, number in zip(self.domain.attributes, item.tolist(), strict=True)
        ]


@cache
def load_space(domain: str, rows: int) -> Space:
    """Returns a domain as arrays.

    Args:
        domain: Its name.
        rows: Rows of the grid.

    Returns:
        The space, made once for each domain and number of rows.
    """
    spec = domains.load(domain)
    low = [each.low if isinstance(each, Number) else 0 for each in spec.attributes]
    high = [each.high if isinstance(each, Number) else len(each.values) - 1 for each in spec.attributes]
    names = [each.name for each in spec.attributes]
    rules: list[RuleColumns] = []
    first = 0
    for rule in spec.global_rules:
        at = names.index(rule.attribute)
        count = {GlobalKind.REPEAT_MAX: high[at] - low[at] + 1, GlobalKind.MAX_ROW_SUM: rows}.get(rule.kind, 1)
        rules.append(RuleColumns(rule, at, first, count, _counted(spec, rule)))
        first += count
    return Space(
        domain=spec,
        natural=Box(np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)),
        is_number=np.array([isinstance(each, Number) for each in spec.attributes]),
        rules=tuple(rules),
        columns=first,
    )


def _counted(domain: Domain, rule: GlobalRule) -> int:
    attribute = domain.attribute(rule.attribute)
    if isinstance(attribute, Choice) and isinstance(rule.counted, str):
        return attribute.values.index(rule.counted)
    return int(rule.counted or 0)
