"""The airline and retail environments of τ-bench and τ²-bench, written anew over the benchmarks' own databases."""

from agenthard.audit.execution.tau.environment import Tau2Environment, TauBenchEnvironment

__all__ = ["Tau2Environment", "TauBenchEnvironment"]
