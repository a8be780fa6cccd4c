"""Checks of the user and its simulator."""

from audit.detectors.user.ambiguous_record import AmbiguousRecord
from audit.detectors.user.damaged_text import DamagedText
from audit.detectors.user.impossible_date import ImpossibleDate
from audit.detectors.user.leftover_wording import LeftoverWording
from audit.detectors.user.misquoted_identifier import MisquotedIdentifier
from audit.detectors.user.nested_value_name import NestedValueName
from audit.detectors.user.role_confusion import UserRoleConfusion
from audit.detectors.user.simulator_instruction import SimulatorInstruction
from audit.detectors.user.weekday_date import WeekdayDate
from audit.detectors.user.wrong_step_reference import WrongStepReference

__all__ = [
    "AmbiguousRecord",
    "DamagedText",
    "ImpossibleDate",
    "LeftoverWording",
    "MisquotedIdentifier",
    "NestedValueName",
    "SimulatorInstruction",
    "UserRoleConfusion",
    "WeekdayDate",
    "WrongStepReference",
]
