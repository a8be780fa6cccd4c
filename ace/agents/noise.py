"""How an agent without a model can be made worse, by amounts that are known."""

from dataclasses import dataclass

RETRIES = 5
"""How often a call that failed for no reason of the agent's is repeated."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Weaknesses of an agent, each with a probability from 0 to 1.

    They concern candidates. The items in the grid can be looked up again at any time, at no cost.
    """

    forgetting: float = 0.0
    """Each fact that an answer tells of a candidate (it meets a rule, it has a value) is lost on the way."""
    arithmetic: float = 0.0
    """Each number of a candidate that goes into a sum is off, by 1 up to a tenth of what the attribute spans."""
    early_stop: float = 0.0
    """After each turn the agent submits the grid as it is."""
    hallucination: float = 0.0
    """Each id that is put into a slot is misspelt; the agent does not look at the refusal."""
    retries: int = RETRIES
    """How often a failed call is repeated."""
