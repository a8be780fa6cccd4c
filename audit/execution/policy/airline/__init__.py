"""The airline's policy as rules, for τ-bench and τ²-bench alike."""

from agenthard.audit.execution.policy.airline import booking, cancellation, compensation, modification

BOOKS = (booking.BOOK, modification.BOOK, cancellation.BOOK, compensation.BOOK)
"""The rules, in the order of the policy."""
