"""The pages of causes and of disputes."""

from typing import Any, get_args

from agenthard.flows.errors import CommandError
from agenthard.flows.review.events import Answer
from agenthard.flows.review.web.causes import Cause, causes, preview
from agenthard.flows.review.web.opened import note_opened
from agenthard.flows.review.web.rendering import Visit, render

MOST_SHOWN = 200
"""Findings of a cluster, and tasks of a cause, that its page lists."""


def causes_page(visit: Visit) -> str:
    """Render the list of causes. Claims of causes that the reviewer has not opened are not on it."""
    rows = [_row(visit, cause) for cause in causes(visit.run)]
    return render("causes.html.j2", visit, rows=rows)


def _row(visit: Visit, cause: Cause) -> dict[str, Any]:
    items = [visit.run.item(("finding", finding.id)) for finding in cause.findings]
    return {
        "cause": cause,
        "seen": not visit.user.reviews or _is_opened(visit, cause),
        "category": visit.category_name(cause.first.category),
        "component": visit.component(cause.first),
        "title": visit.run.titles.get(cause.first.check, cause.first.check),
        "decided": sum(item.reviewed for item in items),
        "own": [item.verdicts[visit.user.name].data["answer"] for item in items if visit.user.name in item.verdicts],
        "split": any(item.split for item in items),
    }


def _is_opened(visit: Visit, cause: Cause) -> bool:
    by = visit.user.name
    return any(event.by == by for finding in cause.findings for event in visit.run.history(("finding", finding.id)))


def cause_page(visit: Visit) -> str:
    """Render one cause. For a reviewer, opening it is noted: later verdicts on its tasks are not blind.

    Raises:
        CommandError: the cause is unknown.
    """
    wanted = visit.query.get("cause", "")
    every = causes(visit.run)
    cause = next((each for each in every if each.id == wanted), None)
    if cause is None:
        raise CommandError(f"the audit {visit.run.name} has no cause {wanted!r}; the page of the causes lists them")
    note_opened(visit, [("finding", finding.id) for finding in cause.findings])
    at = every.index(cause)
    before, after = every[at - 1] if at else None, every[at + 1] if at + 1 < len(every) else None
    shown = cause.findings[:MOST_SHOWN]
    first = shown[0].evidence[0].task_id
    return render(
        "cause.html.j2",
        visit,
        data={
            "next": visit.url("cause", cause=after.id) if after else "",
            "previous": visit.url("cause", cause=before.id) if before else "",
            "cause": cause.id,
        },
        cause=cause,
        before=before,
        after=after,
        row=_row(visit, cause),
        found=[(finding, visit.run.item(("finding", finding.id))) for finding in shown],
        quotes=[visit.run.quote(item) for item in cause.first.evidence],
        first=first if first in visit.run.decisions else cause.first.task_ids[0],
        previews=preview(visit.run, cause, visit.user.name, get_args(Answer)),
    )


def disputes_page(visit: Visit) -> str:
    """Render what reviewers disagree about; an admin adjudicates."""
    with visit.run.lock:
        open_ = [(key, item) for key, item in visit.run.state.items() if item.split]
        closed = [(key, item) for key, item in visit.run.state.items() if item.adjudication is not None]
    rows = [
        {
            "what": key[0],
            "id": key[1],
            "finding": visit.run.findings.get(key[1]) if key[0] == "finding" else None,
            "item": item,
            "seen": visit.user.administers or not visit.user.reviews or visit.user.name in item.verdicts,
        }
        for key, item in open_
    ]
    return render("disputes.html.j2", visit, rows=rows, closed=closed)


def count_disputes(visit: Visit) -> int:
    """Count what reviewers disagree about and no one has adjudicated."""
    with visit.run.lock:
        return sum(item.split for _, item in visit.run.state.items())
