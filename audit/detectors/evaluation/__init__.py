"""Checks of what the evaluator scores."""

from audit.detectors.evaluation.answer_leakage import AnswerLeakage
from audit.detectors.evaluation.do_nothing_passes import DoNothingPasses
from audit.detectors.evaluation.empty_check import EmptyCheck
from audit.detectors.evaluation.gold_rejected import GoldRejected
from audit.detectors.evaluation.probe_passes import ProbePasses
from audit.detectors.evaluation.right_answer_rejected import RightAnswerRejected
from audit.detectors.evaluation.substring_check import SubstringCheck
from audit.detectors.evaluation.unscored_requirement import UnscoredRequirement
from audit.detectors.evaluation.wrong_answer_accepted import WrongAnswerAccepted

__all__ = [
    "AnswerLeakage",
    "DoNothingPasses",
    "EmptyCheck",
    "GoldRejected",
    "ProbePasses",
    "RightAnswerRejected",
    "SubstringCheck",
    "UnscoredRequirement",
    "WrongAnswerAccepted",
]
