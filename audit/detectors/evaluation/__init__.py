"""Checks of what the evaluator scores."""

from audit.detectors.evaluation.answer_leakage import AnswerLeakage
from audit.detectors.evaluation.calls_forbidden import CallsForbidden
from audit.detectors.evaluation.contradictory_figures import ContradictoryFigures
from audit.detectors.evaluation.courtesy_demanded import CourtesyDemanded
from audit.detectors.evaluation.do_nothing_passes import DoNothingPasses
from audit.detectors.evaluation.empty_check import EmptyCheck
from audit.detectors.evaluation.goal_scores_nothing import GoalScoresNothing
from audit.detectors.evaluation.gold_in_text import GoldInText
from audit.detectors.evaluation.gold_rejected import GoldRejected
from audit.detectors.evaluation.listed_answer import ListedAnswer
from audit.detectors.evaluation.marked_answer import MarkedAnswer
from audit.detectors.evaluation.path_compared import PathCompared
from audit.detectors.evaluation.probe_passes import ProbePasses
from audit.detectors.evaluation.right_answer_rejected import RightAnswerRejected
from audit.detectors.evaluation.self_reported_result import SelfReportedResult
from audit.detectors.evaluation.sentence_demanded import SentenceDemanded
from audit.detectors.evaluation.stated_answer import StatedAnswer
from audit.detectors.evaluation.substring_check import SubstringCheck
from audit.detectors.evaluation.superseded_call import SupersededCall
from audit.detectors.evaluation.unasked_in_verdict import UnaskedInVerdict
from audit.detectors.evaluation.unasked_name import UnaskedName
from audit.detectors.evaluation.unreachable_maximum import UnreachableMaximum
from audit.detectors.evaluation.unscored_requirement import UnscoredRequirement
from audit.detectors.evaluation.unseen_rubric import UnseenRubric
from audit.detectors.evaluation.wrong_answer_accepted import WrongAnswerAccepted

__all__ = [
    "AnswerLeakage",
    "CallsForbidden",
    "ContradictoryFigures",
    "CourtesyDemanded",
    "DoNothingPasses",
    "EmptyCheck",
    "GoalScoresNothing",
    "GoldInText",
    "GoldRejected",
    "ListedAnswer",
    "MarkedAnswer",
    "PathCompared",
    "ProbePasses",
    "RightAnswerRejected",
    "SelfReportedResult",
    "SentenceDemanded",
    "StatedAnswer",
    "SubstringCheck",
    "SupersededCall",
    "UnaskedInVerdict",
    "UnaskedName",
    "UnreachableMaximum",
    "UnscoredRequirement",
    "UnseenRubric",
    "WrongAnswerAccepted",
]
