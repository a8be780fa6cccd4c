"""What an episode came to: whether the grid is solved, and separately how the episode ended."""

from dataclasses import dataclass

from agenthard.ace.instance import Grid
from agenthard.play.ending import Ending


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
