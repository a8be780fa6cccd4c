"""Mutants: attempts that differ from the ground truth in one place, each certainly wrong or certainly equivalent.

``operators`` change values, ``mutants`` applies them to a task, and ``root_causes`` groups mutants that an evaluator
accepts wrongly.
"""

from agenthard.audit.execution.mutation.mutant import Mutant, Truth
from agenthard.audit.execution.mutation.mutants import mutants, other_side
from agenthard.audit.execution.mutation.root_causes import RootCause, Trial, ValueClass, classify, find_root_causes

__all__ = [
    "ValueClass",
    "Mutant",
    "RootCause",
    "Trial",
    "Truth",
    "find_root_causes",
    "classify",
    "mutants",
    "other_side",
]
