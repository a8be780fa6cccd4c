"""How often an agent may ask: per slot for queries, per episode for the global check."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Self

from agenthard.ace.instance import Puzzle, Slot

_NO_LIMIT = -1


@dataclass(frozen=True, slots=True)
class Budgets:
    """The two limits of the paper; -1 means none."""

    extra_queries: int = 2
    """Queries a slot allows beyond one per rule of the slot and one per slot of the instance; -1: no limit."""
    alpha: float = 1.0
    """Global checks per slot of the instance, the product rounded down; -1: no limit."""

    UNLIMITED: ClassVar[Self]
    """No limits: what the published runs used. The global check then decides any grid, as often as one likes."""

    def __post_init__(self) -> None:
        for name, value in (("extra_queries", self.extra_queries), ("alpha", self.alpha)):
            if not (0 <= value < inf or value == _NO_LIMIT):
                raise ValueError(f"budget {name} is {value}; it must be 0 or more, or -1 for no limit")

    @property
    def limits_queries(self) -> bool:
        """True when slots allow a limited number of queries."""
        return self.extra_queries != _NO_LIMIT

    def queries(self, puzzle: Puzzle, slot: Slot) -> int | None:
        """Returns how many queries a slot allows.

        Args:
            puzzle: The instance.
            slot: One of its slots.

        Returns:
            Number of successful queries; None without a limit.
        """
        if not self.limits_queries:
            return None
        return len(slot.limits) + len(puzzle.slots) + self.extra_queries

    def global_checks(self, puzzle: Puzzle) -> int | None:
        """Returns how many global checks an episode allows.

        Args:
            puzzle: The instance.

        Returns:
            Number of checks on a full grid; None without a limit.
        """
        return None if self.alpha == _NO_LIMIT else int(self.alpha * len(puzzle.slots))


Budgets.UNLIMITED = Budgets(extra_queries=_NO_LIMIT, alpha=_NO_LIMIT)
