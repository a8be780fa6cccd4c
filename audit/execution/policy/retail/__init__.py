"""The shop's policy as rules, for τ-bench and τ²-bench alike."""

from agenthard.audit.execution.policy.retail import items, orders

BOOKS = (orders.BOOK, items.BOOK)
"""The rules: orders, then their items."""
