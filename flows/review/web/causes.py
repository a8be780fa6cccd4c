"""Causes: findings that many tasks share, and clusters of similar findings; what a verdict on one would change."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from agenthard.audit.decisions.verdicts import PersonVerdict, TargetVerdict, Verdicts
from agenthard.flows.review.decide import verdicts_of
from agenthard.flows.review.events import Answer
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.taxonomy.finding import Finding, Level, Tier
from agenthard.taxonomy.record import Record

MOST_CHANGES = 12
"""Tasks that a preview names."""


class Cause(Record):
    """One cause, or several findings that say the same of different tasks."""

    id: str
    """Id of the finding, or of the cluster."""
    findings: tuple[Finding, ...]
    """The findings; one for a shared cause."""
    shared: bool
    """Whether it is one cause that tasks share."""

    @property
    def first(self) -> Finding:
        """The finding that represents all."""
        return self.findings[0]

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Tasks affected."""
        return tuple(dict.fromkeys(task_id for finding in self.findings for task_id in finding.task_ids))


class Preview(Record):
    """What an answer would change."""

    answer: Answer
    """The answer."""
    changes: dict[str, int]
    """Number of tasks by change, such as ``drop → keep``."""
    tasks: tuple[str, ...]
    """The first of these tasks, each with its change."""


def causes(run: OpenRun) -> list[Cause]:
    """Return shared causes first, those of many tasks before those of few, then clusters of similar findings."""
    every = run.findings.values()
    shared = [Cause(id=each.id, findings=(each,), shared=True) for each in every if each.level is not Level.TASK]
    clusters: dict[str, list[Finding]] = {}
    for finding in every:
        if finding.level is Level.TASK:
            clusters.setdefault(_cluster(finding), []).append(finding)
    similar = [
        Cause(id=name, findings=tuple(found), shared=False) for name, found in clusters.items() if len(found) > 1
    ]
    return [*sorted(shared, key=_weight), *sorted(similar, key=_weight)]


def _weight(cause: Cause) -> tuple[bool, int, str]:
    return cause.first.tier is Tier.SIGNAL, -len(cause.task_ids), cause.id


def _cluster(finding: Finding) -> str:
    """Name the cluster of a finding: its check, category and claim without quoted texts and numbers."""
    pattern = re.sub(r"'[^']*'|\"[^\"]*\"|“[^”]*”|\d[\d.,:-]*", "…", finding.claim)
    return hashlib.sha256("\x1f".join((finding.check, finding.category, pattern)).encode()).hexdigest()[:12]


def preview(run: OpenRun, cause: Cause, reviewer: str, answers: Sequence[Answer]) -> list[Preview]:
    """Tell what each answer on a cause would change in the decisions, all other verdicts as they are.

    Args:
        run: the audit.
        cause: the cause.
        reviewer: who would give the answer.
        answers: the answers.
    """
    with run.lock:
        verdicts = verdicts_of(run.state, run.audit)
    now = {decision.task_id: decision.action for decision in run.audit.decide(verdicts)}
    return [_preview(run, now, _with(verdicts, cause.findings, reviewer, answer), answer) for answer in answers]


def _preview(run: OpenRun, now: Mapping[str, str], verdicts: Verdicts, answer: Answer) -> Preview:
    changed = [
        (each.task_id, f"{now[each.task_id]} → {each.action}")
        for each in run.audit.decide(verdicts)
        if each.action != now[each.task_id]
    ]
    return Preview(
        answer=answer,
        changes=dict(Counter(change for _, change in changed).most_common()),
        tasks=tuple(f"{task_id}: {change}" for task_id, change in changed[:MOST_CHANGES]),
    )


def _with(verdicts: Verdicts, findings: Iterable[Finding], reviewer: str, answer: Answer) -> Verdicts:
    said = PersonVerdict(by=reviewer, at=datetime.now(UTC), answer=answer)
    given = dict(verdicts.findings)
    for finding in findings:
        known = given.get(finding.id, TargetVerdict())
        others = [each for each in known.answers if each.by != reviewer]
        answered = sorted([*others, said], key=lambda each: each.by)
        given[finding.id] = known.model_copy(update={"answers": tuple(answered)})
    changed = verdicts.model_copy(update={"findings": given})
    rejected = {name: 0 for name in given if changed.rejects(name)}
    return changed.model_copy(update={"rejected": rejected})
