"""What an episode came to: whether the grid is solved, and separately how the episode ended."""

from dataclasses import dataclass
from enum import StrEnum

from agenthard.ace.instance import Grid


class Ending(StrEnum):
    """How an episode ended. It never changes the score, which is about the final grid alone."""

    DONE = "done"
    """The agent called `done`."""
    OPEN = "open"
    """The agent stopped without calling `done`, or may still continue."""
    MAX_STEPS = "max_steps"
    """The agent used up the model replies it was allowed."""
    TRUNCATIONS = "truncations"
    """Too many replies were cut off at the length limit."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The conversation grew longer than the model reads."""
    ERROR = "error"
    """Something outside the agent failed, such as the model's service: no verdict on the model."""


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of one episode."""

    instance: str
    """Id of the instance."""
    solved: bool
    """The score: True when the final grid is full and meets every rule, of the slots and of the grid."""
    ending: Ending
    """How the episode ended."""
    grid: Grid
    """The final grid."""
    calls: int
    """Tool calls that were carried out or refused, failures included."""
    malformed: int
    """Calls that were none: arguments that are not JSON, or lack a required one."""
    failures: int
    """Calls that the environment let fail on purpose."""
    queries: int
    """Successful queries."""
    global_checks: int
    """Global checks on a full grid."""
