"""Answers that differ from the ground truth in one place, each known to be wrong or as right as the ground truth."""

from audit.execution.mutation.mutant import Mutant, Truth
from audit.execution.mutation.mutants import mutants

__all__ = ["Mutant", "Truth", "mutants"]
