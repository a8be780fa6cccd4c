"""Checks of the user and its simulator."""

from agenthard.audit.detectors.user.ambiguous_record import AmbiguousRecord
from agenthard.audit.detectors.user.damaged_text import DamagedText
from agenthard.audit.detectors.user.impossible_date import ImpossibleDate
from agenthard.audit.detectors.user.leftover_wording import LeftoverWording
from agenthard.audit.detectors.user.miscounted_list import MiscountedList
from agenthard.audit.detectors.user.misquoted_identifier import MisquotedIdentifier
from agenthard.audit.detectors.user.misstated_identity import MisstatedIdentity
from agenthard.audit.detectors.user.misstated_record import MisstatedRecord
from agenthard.audit.detectors.user.nested_value_name import NestedValueName
from agenthard.audit.detectors.user.role_confusion import UserRoleConfusion
from agenthard.audit.detectors.user.simulator_instruction import SimulatorInstruction
from agenthard.audit.detectors.user.unwritten_file import UnwrittenFile
from agenthard.audit.detectors.user.weekday_date import WeekdayDate
from agenthard.audit.detectors.user.wrong_step_reference import WrongStepReference

__all__ = [
    "AmbiguousRecord",
    "DamagedText",
    "ImpossibleDate",
    "LeftoverWording",
    "MiscountedList",
    "MisquotedIdentifier",
    "MisstatedIdentity",
    "MisstatedRecord",
    "NestedValueName",
    "SimulatorInstruction",
    "UnwrittenFile",
    "UserRoleConfusion",
    "WeekdayDate",
    "WrongStepReference",
]
