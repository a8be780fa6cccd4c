"""τ²-bench: tasks of a checkout, tools as JSON or as Python, and its run logs."""

from agenthard.audit.sources.tau.tau2.source import Tau2Bench

__all__ = ["Tau2Bench"]
