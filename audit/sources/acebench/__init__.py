"""ACEBench in its own layout."""

from agenthard.audit.sources.acebench.source import AceBench

__all__ = ["AceBench"]
