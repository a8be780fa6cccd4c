"""The grade of one attempt, whoever gave it: rules, a panel of models, or both."""

from typing import Literal

from agenthard.agency.judges.panel import PanelGrade
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Judgement

RULES = "rules"
"""Name of the judge that decides by checks."""


class CriterionGrade(Record):
    """The grade of one criterion."""

    criterion: str
    """Its id."""
    share: float
    """Share of it that is met."""
    reason: str
    """Why it is not all."""


class Grade(Record):
    """The grade of one attempt."""

    task_id: str
    """Task."""
    snapshot: str
    """Id of the snapshot that the grade is about."""
    score: float | None
    """From 0 to 10; None where the judge has none, which `status` explains."""
    passed: bool
    """Whether the score reaches the threshold of the task; never without a score."""
    criteria: tuple[CriterionGrade, ...]
    """Grade of each criterion, in the task's order."""
    status: Literal["ok", "not_demonstrated", "judge_error"] = "ok"
    """Whether there is a score, nothing was there to be seen, or no judge gave an answer that counts."""
    panel: PanelGrade | None = None
    """What the models of a panel said, one by one."""

    @property
    def points(self) -> float:
        """The score; 0 where there is none."""
        return self.score or 0.0

    def judgement(self) -> Judgement:
        """Return the grades of the criteria as a judgement of a run."""
        reasons = [f"{each.criterion}: {each.reason}" for each in self.criteria if each.share < 1]
        return Judgement(judge=RULES, kind="script", score=self.score, reason="\n".join(reasons))

    def judgements(self) -> tuple[Judgement, ...]:
        """Return what each judge said as judgements of a run."""
        if self.panel is None:
            return (self.judgement(),)
        by_rules = [each for each in self.criteria if each.criterion in self.panel.rules]
        reasons = [f"{each.criterion}: {each.reason}" for each in by_rules if each.share < 1]
        rules = [Judgement(judge=RULES, kind="script", reason="\n".join(reasons))] if by_rules else []
        return (*rules, *self.panel.judgements())
