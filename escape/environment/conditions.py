"""Conditions to play a room under, the same for every way to play."""

from enum import StrEnum

from pydantic import Field

from agenthard.taxonomy.record import Record

BUDGETS = {5: 35, 10: 80, 15: 130, 20: 160, 25: 200}
"""Turns by number of parts: the paper's."""


class Feedback(StrEnum):
    """What a refused use tells about its parameters."""

    NONE = "none"
    """Only that it failed."""
    BINARY = "binary"
    """Whether everything that it needs has been resolved."""
    PER_PARAM = "per_param"
    """Also, for each parameter, whether it is right: the paper's."""


class Execution(StrEnum):
    """When a tool works."""

    GOLDEN = "golden"
    """Only with the right values: the paper's."""
    FREE = "free"
    """With any values that it can work with; only the right ones resolve the part."""


class Conditions(Record):
    """How a room is played."""

    feedback: Feedback = Feedback.PER_PARAM
    """What a refused use tells."""
    execution: Execution = Execution.GOLDEN
    """When a tool works."""
    turns: int = Field(default=0, ge=-1)
    """Turns; 0: the paper's number for the size of the room, -1: no limit."""
    calls_per_turn: int = Field(default=2, ge=1)
    """Calls of one turn that are carried out. The paper's agents make 1.3 to 1.8; with many, searching suffices."""
    submits: int = Field(default=-1, ge=-1)
    """Answers that may be submitted; -1: no limit."""

    def budget(self, nodes: int) -> int | None:
        """Return how many turns a room of a size allows; None without a limit."""
        return None if self.turns == -1 else self.turns or budget_for(nodes)


def budget_for(nodes: int) -> int:
    """Return the paper's turns for a size, on a line between its sizes and through the origin below the least.

    >>> budget_for(5), budget_for(12), budget_for(30)
    (35, 100, 240)
    """
    sizes = sorted(BUDGETS)
    if nodes <= sizes[0]:
        return max(1, round(BUDGETS[sizes[0]] * nodes / sizes[0]))
    if nodes >= sizes[-1]:
        return round(BUDGETS[sizes[-1]] + (nodes - sizes[-1]) * 8)
    high = min(size for size in sizes if size >= nodes)
    low = max(size for size in sizes if size < high)
    return round(BUDGETS[low] + (BUDGETS[high] - BUDGETS[low]) * (nodes - low) / (high - low))
