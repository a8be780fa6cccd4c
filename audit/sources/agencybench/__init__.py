"""AgencyBench in its own layout."""

from agenthard.audit.sources.agencybench.source import AgencyBench

__all__ = ["AgencyBench"]
