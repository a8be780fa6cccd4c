"""Policies as code: sentences of a policy as rules that check each call of a ground truth."""

from agenthard.audit.execution.policy.case import EarlierCall, PolicyCase, UnknownFactError
from agenthard.audit.execution.policy.checker import CheckedCall, RuleJudgement, check_calls
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, PolicyRule, RuleBook, RuleViolation

__all__ = [
    "CannotTell",
    "PolicyCase",
    "CheckedCall",
    "RuleJudgement",
    "EarlierCall",
    "Outcome",
    "PolicyRule",
    "RuleBook",
    "UnknownFactError",
    "RuleViolation",
    "check_calls",
]
