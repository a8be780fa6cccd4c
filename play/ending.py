"""How an episode ended, which is told apart from whether it succeeded."""

from enum import StrEnum

UNPLAYABLE = "unplayable"
"""Ending of an episode that could not begin: another attempt would end the same way."""


class Ending(StrEnum):
    """How an episode ended. It never changes the score."""

    DONE = "done"
    """The agent ended the episode itself, as the benchmark lets it."""
    OPEN = "open"
    """The agent stopped without ending the episode, or may still continue."""
    MAX_STEPS = "max_steps"
    """The agent used up the model replies it was allowed."""
    TRUNCATIONS = "truncations"
    """Too many replies were cut off at the length limit."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The conversation grew longer than the model reads."""
    ERROR = "error"
    """Something outside the agent failed, such as the model's service: no verdict on the model."""
