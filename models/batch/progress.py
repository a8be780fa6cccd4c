"""The state of a batch, as its provider reports it."""

from typing import Literal

from agenthard.taxonomy.record import Record

State = Literal["running", "ended", "failed"]
"""running: answers are still to come; ended: all answers that will exist are there, also after expiry or cancellation;
failed: the provider refused the whole batch and answered nothing."""


class Progress(Record):
    """Progress of a batch."""

    state: State
    """Whether answers are still to come."""
    message: str
    """The state in the provider's words, with a reason if the provider gives one."""
    done: int = 0
    """Requests answered so far, if the provider says so."""
    failed: int = 0
    """Requests that ended in an error so far."""
