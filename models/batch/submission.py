"""What a call handed over to providers."""

from agenthard.taxonomy.record import Record


class Submission(Record):
    """What was handed over."""

    batches: int = 0
    """Batches begun, those that an earlier call wrote down included."""
    requests: int = 0
    """Requests in them."""
    answered: int = 0
    """Requests that the cache could answer already."""
    under_way: int = 0
    """Requests that were in a batch already."""
    left: int = 0
    """Requests that the budget left no room for."""

    def __add__(self, other: "Submission") -> "Submission":
        """Adds up two calls."""
        return Submission(**{name: getattr(self, name) + getattr(other, name) for name in Submission.model_fields})
