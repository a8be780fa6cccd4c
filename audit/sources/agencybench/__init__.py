"""AgencyBench in its own layout."""

from audit.sources.agencybench.source import AgencyBench

__all__ = ["AgencyBench"]
