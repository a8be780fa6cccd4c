"""Checks of what the evaluator scores."""

from agenthard.audit.detectors.evaluation.answer_leakage import AnswerLeakage
from agenthard.audit.detectors.evaluation.calls_forbidden import CallsForbidden
from agenthard.audit.detectors.evaluation.contradictory_figures import ContradictoryFigures
from agenthard.audit.detectors.evaluation.courtesy_demanded import CourtesyDemanded
from agenthard.audit.detectors.evaluation.do_nothing_passes import DoNothingPasses
from agenthard.audit.detectors.evaluation.droppable_value import DroppableValue
from agenthard.audit.detectors.evaluation.empty_check import EmptyCheck
from agenthard.audit.detectors.evaluation.goal_scores_nothing import GoalScoresNothing
from agenthard.audit.detectors.evaluation.gold_in_text import GoldInText
from agenthard.audit.detectors.evaluation.gold_rejected import GoldRejected
from agenthard.audit.detectors.evaluation.listed_answer import ListedAnswer
from agenthard.audit.detectors.evaluation.marked_answer import MarkedAnswer
from agenthard.audit.detectors.evaluation.path_compared import PathCompared
from agenthard.audit.detectors.evaluation.probe_passes import ProbePasses
from agenthard.audit.detectors.evaluation.rejected_reading import RejectedReading
from agenthard.audit.detectors.evaluation.right_answer_rejected import RightAnswerRejected
from agenthard.audit.detectors.evaluation.self_reported_result import SelfReportedResult
from agenthard.audit.detectors.evaluation.sentence_demanded import SentenceDemanded
from agenthard.audit.detectors.evaluation.stated_answer import StatedAnswer
from agenthard.audit.detectors.evaluation.substring_check import SubstringCheck
from agenthard.audit.detectors.evaluation.superseded_call import SupersededCall
from agenthard.audit.detectors.evaluation.unasked_in_verdict import UnaskedInVerdict
from agenthard.audit.detectors.evaluation.unasked_name import UnaskedName
from agenthard.audit.detectors.evaluation.unreachable_maximum import UnreachableMaximum
from agenthard.audit.detectors.evaluation.unscored_requirement import UnscoredRequirement
from agenthard.audit.detectors.evaluation.unseen_rubric import UnseenRubric
from agenthard.audit.detectors.evaluation.wrong_answer_accepted import WrongAnswerAccepted

__all__ = [
    "AnswerLeakage",
    "CallsForbidden",
    "ContradictoryFigures",
    "CourtesyDemanded",
    "DoNothingPasses",
    "DroppableValue",
    "EmptyCheck",
    "GoalScoresNothing",
    "GoldInText",
    "GoldRejected",
    "ListedAnswer",
    "MarkedAnswer",
    "PathCompared",
    "ProbePasses",
    "RejectedReading",
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
