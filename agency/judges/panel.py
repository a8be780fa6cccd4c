"""A panel of judges: several models, each several times; their mean, the average of both kinds, and their agreement."""

import asyncio
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Literal

from pydantic import Field

from agenthard.agency.judges.exhibit import Exhibit
from agenthard.agency.judges.model_judge import ask
from agenthard.agency.judges.opinion import TOP_SCORE, JudgeKind, Opinion
from agenthard.agency.scenario import ScenarioTask
from agenthard.audit.statistics.judges import PASSES, JudgeAgreement, judge_agreement
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.trajectory import Judgement

KINDS: tuple[JudgeKind, ...] = ("text", "vision")


class Panel(Record):
    """Who judges."""

    text: tuple[ModelFile, ...] = ()
    """Judges that read."""
    vision: tuple[ModelFile, ...] = ()
    """Judges that see."""
    repeats: int = Field(default=1, ge=1, le=50)
    """How often each is asked."""

    def judges(self, kind: JudgeKind) -> tuple[ModelFile, ...]:
        """Return the judges of a kind."""
        return self.text if kind == "text" else self.vision


class KindGrade(Record):
    """What the judges of one kind say together."""

    kind: JudgeKind
    """Kind."""
    score: float | None
    """Mean over judges of the mean over their repetitions; None when no judge has one."""
    confidence: float | None
    """Mean of their confidence, in the same way."""
    spread: float | None
    """Difference between the highest and the lowest score of all repetitions."""
    opinions: tuple[Opinion, ...]
    """What each said, by judge and repetition."""
    without_score: int
    """Opinions without a score; they count neither for nor against."""


class PanelGrade(Record):
    """What the panel says of one attempt."""

    task_id: str
    """Task."""
    snapshot: str
    """Id of the snapshot that was judged."""
    grades: tuple[KindGrade, ...]
    """By kind."""
    rules: dict[str, float]
    """Shares of the criteria that rules decided, which count with them."""
    score: float | None
    """From 0 to 10; None when a kind that the task asks for has no score."""
    passed: bool
    """Whether the score reaches the threshold of the task; never without a score."""
    status: Literal["ok", "not_demonstrated", "judge_error"]
    """Whether there is a score, nothing was there to be seen, or no judge gave an answer that counts."""

    def judgements(self) -> tuple[Judgement, ...]:
        """Return the opinions as judgements of a run."""
        return tuple(
            Judgement(
                judge=each.judge,
                kind=each.kind,
                score=each.score,
                reason=each.comment or each.reason,
                shown=each.shown if each.kind == "vision" else None,
                diagnostics=(each.problem,) if each.problem else (),
            )
            for grade in self.grades
            for each in grade.opinions
        )


async def judge(
    panel: Panel, exhibit: Exhibit, model: Model, *, snapshot: str, owner: str, rules: Mapping[str, float] | None = None
) -> PanelGrade:
    """Let a panel judge an attempt.

    Args:
        panel: who judges.
        exhibit: what they look at.
        model: answers the requests: through cache, limits, budget and ledger.
        snapshot: id of the snapshot that the exhibit shows.
        owner: what the questions are for, in the ledger.
        rules: shares of the criteria that rules decided, by their ids.

    Raises:
        ValueError: the task asks for a kind of judge that the panel lacks, or a criterion is decided by nothing.
        ModelError: one that ends the run.
    """
    wanted = [kind for kind in KINDS if any(each.judge == kind for each in exhibit.task.criteria)]
    lacking = [kind for kind in wanted if not panel.judges(kind)]
    if lacking:
        raise ValueError(f"task {exhibit.task.id} has clauses for a {lacking[0]} judge, and the panel has none")
    asked = [(kind, each, repeat) for kind in wanted for each in panel.judges(kind) for repeat in range(panel.repeats)]
    opinions = await asyncio.gather(
        *(ask(kind, each, exhibit, model, owner=owner, repeat=repeat) for kind, each, repeat in asked)
    )
    grades = tuple(_of_kind(kind, [each for each in opinions if each.kind == kind]) for kind in wanted)
    scores = {grade.kind: grade.score for grade in grades}
    score = average(exhibit.task, rules or {}, scores)
    unseen = any(each.problem == "not_demonstrated" for each in opinions)
    return PanelGrade(
        task_id=exhibit.task.id,
        snapshot=snapshot,
        grades=grades,
        rules=dict(rules or {}),
        score=score,
        passed=score is not None and score >= TOP_SCORE * exhibit.task.threshold,
        status="ok" if score is not None else "not_demonstrated" if unseen else "judge_error",
    )


def average(task: ScenarioTask, rules: Mapping[str, float], scores: Mapping[JudgeKind, float | None]) -> float | None:
    """Average rules and judges, each criterion by its weight.

    Where every clause goes to both judges, as in the paper's visual tasks, this is (text + vision) / 2.

    Args:
        task: the task.
        rules: share of each criterion that a rule decided.
        scores: score of each kind of judge.

    Returns:
        The score from 0 to 10; None when a judge that the task asks for has none.

    Raises:
        ValueError: a criterion is decided by neither.
    """
    total = weights = 0.0
    missing = False
    for each in task.criteria:
        if each.id in rules:
            share: float | None = rules[each.id]
        elif each.judge in scores:
            found = scores[each.judge]  # type: ignore[index]  # a key, by the line above
            share = None if found is None else found / TOP_SCORE
        else:
            raise ValueError(f"criterion {each.id} of task {task.id} is decided by no rule and no judge of the panel")
        missing = missing or share is None
        total, weights = total + each.weight * (share or 0.0), weights + each.weight
    return None if missing or not weights else round(TOP_SCORE * total / weights, 9)


def _of_kind(kind: JudgeKind, opinions: Sequence[Opinion]) -> KindGrade:
    scored = [each for each in opinions if each.score is not None]
    names = list(dict.fromkeys(each.judge for each in scored))
    values = [each.score or 0.0 for each in scored]
    return KindGrade(
        kind=kind,
        score=mean(mean(e.score or 0.0 for e in scored if e.judge == name) for name in names) if names else None,
        confidence=mean(mean(e.confidence or 0.0 for e in scored if e.judge == name) for name in names)
        if names
        else None,
        spread=max(values) - min(values) if values else None,
        opinions=tuple(opinions),
        without_score=len(opinions) - len(scored),
    )


def panel_agreement(
    grades: Sequence[PanelGrade], kind: JudgeKind, *, passes: float = PASSES, resamples: int = 2000, seed: int = 0
) -> JudgeAgreement:
    """Measure how far the judges of one kind agree, with intervals over attempts.

    Args:
        grades: grades of many attempts.
        kind: kind of judge.
        passes: score at which an attempt passes, for κ.
        resamples: resamples of the bootstrap.
        seed: seed of the bootstrap.
    """
    units = [grade.opinions for found in grades for grade in found.grades if grade.kind == kind]
    names = dict.fromkeys(each.judge for unit in units for each in unit)
    scores = {name: [[each.score for each in unit if each.judge == name] for unit in units] for name in names}
    return judge_agreement(kind, scores, passes=passes, resamples=resamples, seed=seed)
