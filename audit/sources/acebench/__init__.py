"""ACEBench in its own layout."""

from audit.sources.acebench.source import AceBench

__all__ = ["AceBench"]
