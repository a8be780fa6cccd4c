"""Checks of what the evaluator scores."""

from audit.detectors.evaluation.answer_leakage import AnswerLeakage
from audit.detectors.evaluation.do_nothing_passes import DoNothingPasses
from audit.detectors.evaluation.empty_check import EmptyCheck
from audit.detectors.evaluation.substring_check import SubstringCheck
from audit.detectors.evaluation.unscored_requirement import UnscoredRequirement

__all__ = ["AnswerLeakage", "DoNothingPasses", "EmptyCheck", "SubstringCheck", "UnscoredRequirement"]
