"""What a policy says of judges: when the strong ones are asked, and how sure a flaw must be to be reported."""

import math
from typing import Literal

from pydantic import Field, model_validator

from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.record import Record

Occasion = Literal["uncertain", "grave", "failed"]


class Escalation(Record):
    """When the judges of the second tier are asked about a task. What execution proved needs no second opinion."""

    when: tuple[Occasion, ...] = ("uncertain", "grave", "failed")
    """Occasions, any of which suffices. uncertain: the first tier abstains, does not agree, or is not sure of its
    flaws; grave: it calls the task flawed, with a flaw of a grave severity; failed: no judge gave a verdict."""
    grave: tuple[Severity, ...] = (Severity.AFFECTS_SCORE, Severity.MAY_AFFECT_SCORE)
    """Severities that are grave."""
    sure: float = Field(default=0.95, ge=0, le=1)
    """Confidence from which the first tier is sure of a flaw."""
    dropped_by_rules: bool = False
    """Whether they are asked about tasks that the rules and executions of the audit drop anyway."""


class Calibration(Record):
    """How stated confidence translates into the probability that a flaw is one: a logistic curve, fitted on labels."""

    slope: float = Field(allow_inf_nan=False, gt=0)
    """Factor of the stated log odds."""
    intercept: float = Field(allow_inf_nan=False)
    """What is added to them."""
    labels: str
    """Labels that it was fitted on; shown with every figure that rests on it."""

    def probability(self, confidence: float) -> float:
        """Return the probability that belongs to a stated confidence.

        >>> round(Calibration(slope=0.5, intercept=0.0, labels="made up").probability(0.9), 2)
        0.75
        """
        return 1 / (1 + math.exp(-(self.slope * log_odds(confidence) + self.intercept)))


EDGE = 0.01
"""Confidences nearer to 0 or 1 count as this far from it: no judge can be surer, and their log odds are finite."""


def log_odds(confidence: float) -> float:
    """Return the logarithm of the odds of a confidence, kept off 0 and 1."""
    inside = min(max(confidence, EDGE), 1 - EDGE)
    return math.log(inside / (1 - inside))


class Reporting(Record):
    """How sure a judge's flaw must be to be reported."""

    false_flag_cost: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """What a wrong flag costs, where a missed flaw costs 1."""
    calibration: Calibration | None = None
    """Curve for all categories; None takes the stated confidence as it is."""
    by_category: dict[str, Calibration] = Field(default_factory=dict)
    """Curves of single categories, which take precedence."""

    @property
    def threshold(self) -> float:
        """Probability from which reporting costs less than it saves: p · 1 ≥ (1 − p) · cost.

        >>> Reporting(false_flag_cost=1).threshold, Reporting(false_flag_cost=4).threshold
        (0.5, 0.8)
        """
        return self.false_flag_cost / (1 + self.false_flag_cost)

    def probability(self, category: str, confidence: float) -> float:
        """Return the probability that a flaw of a category, stated with a confidence, is one."""
        curve = self.by_category.get(category, self.calibration)
        return confidence if curve is None else curve.probability(confidence)

    def reports(self, category: str, confidence: float) -> bool:
        """Tell whether a flaw is reported."""
        return self.probability(category, confidence) >= self.threshold


class JudgingRules(Record):
    """What a policy says of judges."""

    escalation: Escalation = Escalation()
    """When the second tier is asked."""
    reporting: Reporting = Reporting()
    """Which flaws are reported."""

    @model_validator(mode="after")
    def _occasions_can_occur(self) -> "JudgingRules":
        if "grave" in self.escalation.when and not self.escalation.grave:
            raise ValueError("escalation: grave is an occasion, but no severity is grave")
        return self
