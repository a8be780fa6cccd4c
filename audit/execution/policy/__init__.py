"""Policy as code: sentences of a policy as rules that look at each call of a ground truth."""

from agenthard.audit.execution.policy.case import Case, Made, UnknownFactError
from agenthard.audit.execution.policy.checker import Judged, Judgement, judge
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, Rule, RuleBook, Violation

__all__ = [
    "CannotTell",
    "Case",
    "Judged",
    "Judgement",
    "Made",
    "Outcome",
    "Rule",
    "RuleBook",
    "UnknownFactError",
    "Violation",
    "judge",
]
