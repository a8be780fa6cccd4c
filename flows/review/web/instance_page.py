"""The page of one task: its parts and runs, the verdict panel, and what checks found once the reviewer may see it."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from agenthard.flows.review.events import Event, VerdictData
from agenthard.flows.review.queue import Label, queue_of, stored_queue
from agenthard.flows.review.web.queue_page import Selection
from agenthard.flows.review.web.rendering import Visit, render
from agenthard.reports.look_first import urgency
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Finding, Level, Severity, Tier
from agenthard.taxonomy.record import Record


class CategoryKeys(Record):
    """A category with the two digits that choose it: the component, then its place within the component."""

    keys: str
    """The digits."""
    id: str
    """Category."""
    name: str
    """Its name."""
    rule: str
    """When a task belongs there."""


def instance_page(visit: Visit) -> str:
    """Render the page of the task that the query names.

    Raises:
        CommandError: the audit has no such task.
    """
    run, task_id = visit.run, visit.query.get("task", "")
    run.require(("task", task_id))
    selection = Selection.of(visit)
    seen = visit.sees(task_id)
    item = run.item(("task", task_id))
    own = item.verdicts.get(visit.user.name)
    before, after = selection.neighbours(task_id)
    working_in = selection.queue or stored_queue(run.folder, queue_of(item, visit.user.name))
    fields = working_in.fields if working_in else get_args(Label)
    legend = category_keys(visit) if "category" in fields else {}
    found = _findings(visit, task_id) if seen else []
    return render(
        "instance.html.j2",
        visit,
        data={
            "task": task_id,
            "seen": seen,
            "listed_by_checks": selection.by_checks,
            "shown": run.described(task_id, not seen),
            "next": selection.task_url(after) if after else "",
            "previous": selection.task_url(before) if before else "",
            "list": selection.url(),
            "messages": visit.url("messages"),
            "categories": {each.keys: each.id for group in legend.values() for each in group},
            "own": None if own is None else own.data,
        },
        task_id=task_id,
        selection=selection,
        before=before,
        after=after,
        place=selection.place(task_id),
        working_in=working_in,
        fields=fields,
        item=item,
        own=own,
        seen=seen,
        legend=legend,
        decision=run.decisions[task_id] if seen else None,
        findings=found,
        disagreement=_disagreement(visit, task_id, own, found) if seen else "",
        others={by: event for by, event in item.verdicts.items() if by != visit.user.name},
        history=run.history(("task", task_id)) if seen else (),
    )


def category_keys(visit: Visit) -> dict[str, list[CategoryKeys]]:
    """Return categories with their keys by title of the component, such as 42 for the second of Ground Truth."""
    return {
        title: [
            CategoryKeys(keys=f"{first}{second}", id=each.id, name=each.name, rule=each.rule)
            for second, each in enumerate(visit.run.taxonomy.component(component), 1)
        ]
        for first, (component, title) in enumerate(COMPONENT_TITLES.items(), 1)
    }


def _findings(visit: Visit, task_id: str) -> list[dict[str, Any]]:
    """Describe the findings that affect a task, the gravest first, with what people have said about each."""
    found = sorted(visit.run.findings_of.get(task_id, ()), key=urgency)
    return [_finding(visit, finding) for finding in found]


def _finding(visit: Visit, finding: Finding) -> dict[str, Any]:
    item = visit.run.item(("finding", finding.id))
    return {
        "finding": finding,
        "component": visit.component(finding),
        "category": visit.category_name(finding.category),
        "shared": finding.level is not Level.TASK,
        "own": item.verdicts.get(visit.user.name),
        "item": item,
        "since": visit.series.changes(visit.run).get(finding.id),
    }


def counts_against(finding: Finding) -> bool:
    """Tell whether a finding says that its task is flawed: no signal, not cosmetic, not only a shared cause."""
    return (
        finding.tier is not Tier.SIGNAL
        and finding.severity is not Severity.COSMETIC
        and (finding.level is Level.TASK or bool(finding.decides))
    )


def _disagreement(visit: Visit, task_id: str, own: Event | None, found: Sequence[Mapping[str, Any]]) -> str:
    """Say in which way a verdict differs from the checks, where it does and the reviewer has not said why."""
    if own is None or not isinstance(own.details, VerdictData) or own.details.reason.strip():
        return ""
    against = [each["finding"].check for each in found if counts_against(each["finding"])]
    if own.details.flaw == "no" and against:
        checks = ", ".join(dict.fromkeys(against))
        return f"You see no flaw, and {checks} found something. Why is it not a flaw? One sentence."
    if own.details.flaw == "yes" and not against:
        return "You see a flaw that no check found. What is wrong? One sentence."
    return ""
