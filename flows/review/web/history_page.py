"""The pages of the history: what changed from run to run of one benchmark, and one finding through all of them."""

from typing import Any

from agenthard.flows.errors import CommandError
from agenthard.flows.review.web.opened import note_opened
from agenthard.flows.review.web.rendering import Visit, render
from agenthard.flows.review.web.series import WHY, Changed

MOST_SHOWN = 200
"""Findings of one explanation that the page lists."""


def history_page(visit: Visit) -> str:
    """Render the history of the finding that the query names, else what changed from run to run.

    Raises:
        CommandError: no served run of the benchmark has the finding.
    """
    if wanted := visit.query.get("finding", ""):
        return _of_finding(visit, wanted)
    changed = visit.series.changed(visit.run)
    groups = [
        (why, [_row(visit, each) for each in own[:MOST_SHOWN]], len(own))
        for cause, why in WHY.items()
        if (own := [each for each in changed if each.change.cause == cause])
    ]
    return render(
        "history.html.j2", visit, steps=visit.series.steps, before=visit.series.before(visit.run), groups=groups
    )


def _row(visit: Visit, changed: Changed) -> dict[str, Any]:
    """Describe a finding; its claim and tasks only once the person may know what checks say about these tasks."""
    here = [task_id for task_id in changed.finding.task_ids if task_id in visit.run.decisions]
    return {
        "changed": changed,
        "seen": all(map(visit.sees, here)),
        "category": visit.category_name(changed.finding.category),
        "component": visit.component(changed.finding),
        "title": visit.run.titles.get(changed.finding.check, changed.finding.check),
    }


def _of_finding(visit: Visit, wanted: str) -> str:
    finding = visit.series.finding(wanted)
    if finding is None:
        raise CommandError(f"no served run of this benchmark has a finding {wanted!r}")
    here = [task_id for task_id in finding.task_ids if task_id in visit.run.decisions]
    if wanted in visit.run.findings:
        note_opened(visit, [("finding", wanted)])
    else:
        note_opened(visit, [("task", task_id) for task_id in here])
    return render(
        "finding_history.html.j2",
        visit,
        finding=finding,
        title=visit.run.titles.get(finding.check, finding.check),
        category=visit.category_name(finding.category),
        component=visit.component(finding),
        rows=visit.series.history(wanted),
        here=here[:MOST_SHOWN],
        why=WHY,
    )
