"""Answers that differ from the ground truth in one place, each known to be wrong or as right as the ground truth."""

from agenthard.audit.execution.mutation.mutant import Mutant, Truth
from agenthard.audit.execution.mutation.mutants import mutants
from agenthard.audit.execution.mutation.root_causes import Kind, Root, Tried, find_roots, kind_of

__all__ = ["Kind", "Mutant", "Root", "Tried", "Truth", "find_roots", "kind_of", "mutants"]
