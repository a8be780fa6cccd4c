"""The airline and retail environments of τ-bench and τ²-bench.

Our own implementation of the tools works on the benchmarks' databases (``environment``, ``airline``, ``retail``,
``tools``, ``state``, ``evaluator``). ``own_code`` runs the benchmark's own code from a checkout instead, and
``fidelity`` compares both.
"""

from agenthard.audit.execution.tau.environment import Tau2Environment, TauBenchEnvironment

__all__ = ["Tau2Environment", "TauBenchEnvironment"]
