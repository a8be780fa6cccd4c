"""What an evaluation was, as its runner says, and what can be wrong with what it hands over."""

from pydantic import Field

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record


class EvaluationError(AgentHardError, ValueError):
    """The episodes or a file to compare with cannot be read; the message says where, why and what to do."""

    code = "AH708"
    remedy = "Correct the file at the place that the message names, or evaluate again."


class About(Record):
    """What was evaluated, and how. Nothing here is measured; the report repeats it."""

    title: str = "Evaluation"
    """Name of the evaluation for people."""
    suite: str = ""
    """Instances that were played: name, folder or content hash."""
    seeds: dict[str, int] = Field(default_factory=dict)
    """What is random → its seed."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Part → its version."""
    conditions: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    """Setting → its value: step limit, output tokens, budgets, tool limits."""
    planned: dict[str, int] = Field(default_factory=dict)
    """Agent → episodes that were planned, over all failure rates; an agent that is not named has no plan."""
    families: dict[str, str] = Field(default_factory=dict)
    """Agent → family; an agent that is not named belongs to the part of its name before the first "+"."""
    level: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of every interval; pairs are tested at 1 − level after Holm's correction."""
    resamples: int = Field(default=2000, ge=100)
    """Bootstrap resamples behind every interval that needs them."""
    seed: int = 0
    """Seed of every resample."""

    def family(self, agent: str) -> str:
        """Name the family of an agent.

        >>> About(families={"b": "mine"}).family("filter+forgets"), About(families={"b": "mine"}).family("b")
        ('filter', 'mine')
        """
        return self.families.get(agent) or agent.partition("+")[0].strip() or agent
