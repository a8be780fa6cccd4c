"""Who decided what: the verdicts of people, as rows of a table."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from agenthard.reports.kit.text import plural
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.record import Record

MOST_ON_PAGE = 500
"""Verdicts listed on the page; findings.json holds all."""
MOST_IN_SUMMARY = 20
"""Verdicts listed in the summary."""


class PeopleRow(Record):
    """What people say about one task or finding."""

    target: Literal["task", "finding"]
    """What it is about."""
    target_id: str
    """Its id."""
    said: str
    """Who says what, when and why."""
    effect: str
    """What it means: the decision, or why the verdict does not count."""
    counts: bool = True
    """False for a stale verdict."""


def people_rows(result: AuditResult) -> list[PeopleRow]:
    """List the verdicts of people: tasks, findings, then verdicts that do not count."""
    return list(_rows(result))


def _rows(result: AuditResult) -> Iterator[PeopleRow]:
    people = result.people
    for task_id, given in people.tasks.items():
        yield PeopleRow(target="task", target_id=task_id, said=given.sentence, effect=given.action)
    for identity, given in people.findings.items():
        effect = "the finding does not count" if people.rejects(identity) else _effect(result, identity)
        yield PeopleRow(target="finding", target_id=identity, said=given.sentence, effect=effect)
    for stale in people.stale:
        said = f"{stale.verdict.by} ({stale.verdict.when_and_why})"
        effect = f"stale, not used: {stale.why}"
        yield PeopleRow(target=stale.target, target_id=stale.target_id, said=said, effect=effect, counts=False)


def _effect(result: AuditResult, identity: str) -> str:
    """Count the tasks that a finding takes out or sends to review, by what is decided about them."""
    finding = next(each for each in result.findings if each.id == identity)
    decisions = [result.decision[task_id] for task_id in finding.task_ids]
    led_to = Counter(each.action for each in decisions if identity in each.finding_ids)
    parts = [f"{action} {led_to[action]:,}" for action in ("drop", "review") if led_to[action]]
    return f"{', '.join(parts)} of {plural(len(decisions), 'task')}" if parts else "leads to no decision"
