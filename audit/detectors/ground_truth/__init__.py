"""Checks of the ground truth: gold calls, gold turns, and tasks compared with one another."""

from audit.detectors.ground_truth.call_schema import CallSchema
from audit.detectors.ground_truth.conflicting_gold import ConflictingGold
from audit.detectors.ground_truth.duplicate_task import DuplicateTask
from audit.detectors.ground_truth.near_miss_value import NearMissValue
from audit.detectors.ground_truth.turn_count import TurnCount
from audit.detectors.ground_truth.ungrounded_argument import UngroundedArgument

__all__ = ["CallSchema", "ConflictingGold", "DuplicateTask", "NearMissValue", "TurnCount", "UngroundedArgument"]
