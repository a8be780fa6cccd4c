"""Readings of a task as concrete runs: written down, validated, replayed, checked against the policy, and judged."""
