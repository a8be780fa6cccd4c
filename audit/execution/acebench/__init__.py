"""ACEBench in execution: the checker and the classes of a checkout, run in workers."""

from agenthard.audit.execution.acebench.environment import AceBenchEnvironment

__all__ = ["AceBenchEnvironment"]
