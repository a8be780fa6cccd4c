"""Conditions to play an instance under, the same for every way to play: `evaluate`, MCP, Inspect."""

from pydantic import Field

from agenthard.ace.environment.budgets import Budgets
from agenthard.ace.environment.mode import Mode
from agenthard.play.episode import MAX_TURNS
from agenthard.taxonomy.record import Record


class Conditions(Record):
    """How an instance is played."""

    mode: Mode = Mode.REFERENCE
    """How the tools behave: as the released code does (queries give values), or as the paper says (they give ids)."""
    extra_queries: int = Field(default=Budgets().extra_queries, ge=-1)
    """Queries a slot allows beyond one per rule of the slot and one per slot of the instance; -1: no limit."""
    alpha: float = Field(default=Budgets().alpha, ge=-1)
    """Global checks per slot of the instance; -1: no limit."""
    max_turns: int = Field(default=MAX_TURNS, ge=1)
    """Turns an agent may take."""

    @property
    def budgets(self) -> Budgets:
        """How often an agent may ask."""
        return Budgets(self.extra_queries, self.alpha)
