"""τ-bench: tasks, tools and policies as JSON or as the original Python, and its run logs."""

from agenthard.audit.sources.tau.tau_bench.source import TauBench

__all__ = ["TauBench"]
