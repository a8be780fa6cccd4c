"""Proofs about a room: what it says of itself is executed and read again."""

from agenthard.escape.proof.verify import Problem, Report, certified, verify

__all__ = ["Problem", "Report", "certified", "verify"]
