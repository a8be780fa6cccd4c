"""Checks of the ground truth: gold calls, gold turns, and tasks compared with one another."""

from agenthard.audit.detectors.ground_truth.broken_pattern import BrokenPattern
from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.detectors.ground_truth.conflicting_gold import ConflictingGold
from agenthard.audit.detectors.ground_truth.conflicting_request import ConflictingRequest
from agenthard.audit.detectors.ground_truth.conflicting_variants import ConflictingVariants
from agenthard.audit.detectors.ground_truth.contradicted_statement import ContradictedStatement
from agenthard.audit.detectors.ground_truth.duplicate_task import DuplicateTask
from agenthard.audit.detectors.ground_truth.exchanged_values import ExchangedValues
from agenthard.audit.detectors.ground_truth.fruitless_call import FruitlessCall
from agenthard.audit.detectors.ground_truth.gold_changes_nothing import GoldChangesNothing
from agenthard.audit.detectors.ground_truth.gold_fails import GoldFails
from agenthard.audit.detectors.ground_truth.gold_nondeterministic import GoldNondeterministic
from agenthard.audit.detectors.ground_truth.gold_order import GoldOrder
from agenthard.audit.detectors.ground_truth.gold_redundant import GoldRedundant
from agenthard.audit.detectors.ground_truth.invented_value import InventedValue
from agenthard.audit.detectors.ground_truth.milestones_miss_state import MilestonesMissState
from agenthard.audit.detectors.ground_truth.miscopied_result import MiscopiedResult
from agenthard.audit.detectors.ground_truth.misplaced_value import MisplacedValue
from agenthard.audit.detectors.ground_truth.near_miss_value import NearMissValue
from agenthard.audit.detectors.ground_truth.other_unit import OtherUnit
from agenthard.audit.detectors.ground_truth.policy_violation import PolicyViolation
from agenthard.audit.detectors.ground_truth.slipped_call import SlippedCall
from agenthard.audit.detectors.ground_truth.text_without_source import TextWithoutSource
from agenthard.audit.detectors.ground_truth.turn_count import TurnCount
from agenthard.audit.detectors.ground_truth.twisted_name import TwistedName
from agenthard.audit.detectors.ground_truth.unanswered_part import UnansweredPart
from agenthard.audit.detectors.ground_truth.unasked_argument import UnaskedArgument
from agenthard.audit.detectors.ground_truth.unavailable_tool import UnavailableTool
from agenthard.audit.detectors.ground_truth.unchosen_variant import UnchosenVariant
from agenthard.audit.detectors.ground_truth.uneven_calls import UnevenCalls
from agenthard.audit.detectors.ground_truth.unfounded_refusal import UnfoundedRefusal
from agenthard.audit.detectors.ground_truth.ungrounded_argument import UngroundedArgument
from agenthard.audit.detectors.ground_truth.unknown_output import UnknownOutput
from agenthard.audit.detectors.ground_truth.unmatched_value import UnmatchedValue
from agenthard.audit.detectors.ground_truth.unmet_figure import UnmetFigure
from agenthard.audit.detectors.ground_truth.unnamed_choice import UnnamedChoice
from agenthard.audit.detectors.ground_truth.unnamed_record import UnnamedRecord
from agenthard.audit.detectors.ground_truth.unreachable_value import UnreachableValue
from agenthard.audit.detectors.ground_truth.unsaid_amount import UnsaidAmount
from agenthard.audit.detectors.ground_truth.unsupported_output import UnsupportedOutput
from agenthard.audit.detectors.ground_truth.withheld_tool import WithheldTool

__all__ = [
    "CallSchema",
    "ConflictingGold",
    "ConflictingRequest",
    "ConflictingVariants",
    "ContradictedStatement",
    "DuplicateTask",
    "ExchangedValues",
    "FruitlessCall",
    "GoldChangesNothing",
    "GoldFails",
    "GoldNondeterministic",
    "GoldOrder",
    "GoldRedundant",
    "InventedValue",
    "MiscopiedResult",
    "MisplacedValue",
    "NearMissValue",
    "PolicyViolation",
    "TextWithoutSource",
    "TurnCount",
    "TwistedName",
    "UnaskedArgument",
    "UngroundedArgument",
    "UnknownOutput",
    "UnnamedChoice",
    "UnnamedRecord",
    "UnreachableValue",
    "UnsaidAmount",
    "UnmatchedValue",
    "UnmetFigure",
    "WithheldTool",
    "MilestonesMissState",
    "BrokenPattern",
    "UnavailableTool",
    "UnfoundedRefusal",
    "OtherUnit",
    "UnansweredPart",
    "UnchosenVariant",
    "SlippedCall",
    "UnevenCalls",
    "UnsupportedOutput",
]
