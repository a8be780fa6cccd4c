"""The airline's policy as rules, for τ-bench and τ²-bench alike."""

from agenthard.audit.execution.policy.airline import booking, cancelling, changing, compensating

BOOKS = (booking.BOOK, changing.BOOK, cancelling.BOOK, compensating.BOOK)
"""The rules, in the order of the policy."""
