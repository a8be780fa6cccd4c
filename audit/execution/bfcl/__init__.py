"""BFCL in execution: the classes and checkers of the bfcl-eval package, run in workers."""

from agenthard.audit.execution.bfcl.environment import BfclEnvironment

__all__ = ["BfclEnvironment"]
