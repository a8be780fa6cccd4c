"""The page of a repair: the proposed patch, what a try of it gives, and the issue for the maintainers."""

from agenthard.flows.errors import CommandError
from agenthard.flows.review.events import RepairData
from agenthard.flows.review.repairs import read_patch
from agenthard.flows.review.web.rendering import Visit, render, render_plain
from agenthard.flows.review.web.repairs import attempt, patch_text, proposed
from agenthard.reports.look_first import urgency
from agenthard.taxonomy.finding import Finding


def repair_page(visit: Visit) -> str:
    """Render the page of the repair of a task, for the finding that the query names.

    Raises:
        CommandError: the task or finding is unknown, or the reviewer has given no verdict on the task.
    """
    task_id = visit.query.get("task", "")
    finding = _finding(visit, task_id)
    item = visit.run.item(("task", task_id))
    event = item.repairs.get(finding.id)
    decided = event.details if event else None
    given = decided.patch if isinstance(decided, RepairData) and decided.patch else ()
    patch = given or proposed(visit.run, finding, task_id)
    return render(
        "repair.html.j2",
        visit,
        data={"repair": visit.url("repair"), "task": task_id, "finding": finding.id, "seen": True, "next": ""},
        task_id=task_id,
        finding=finding,
        others=[each for each in _candidates(visit, task_id) if each.id != finding.id],
        patch=patch_text(patch) if patch else "",
        decided=decided,
        event=event,
    )


def trial(visit: Visit, task_id: str, finding_id: str, patch: str) -> str:
    """Try a patch, and render what it gives as a part of the page.

    Raises:
        ReviewError: the patch is not one.
        CommandError: the task or finding is unknown, or the reviewer has given no verdict on the task.
    """
    finding = _finding(visit, task_id, finding_id)
    found = attempt(visit.run, finding, task_id, read_patch(patch))
    return render_plain("trial.html.j2", trial=found, repair=found.repair)


def _candidates(visit: Visit, task_id: str) -> list[Finding]:
    """Return the findings on a task: those with a patch first, then the gravest."""
    found = visit.run.findings_of.get(task_id, ())
    return sorted(found, key=lambda each: (not each.patch, urgency(each)))


def _finding(visit: Visit, task_id: str, finding_id: str = "") -> Finding:
    visit.run.require(("task", task_id))
    if not visit.sees(task_id):
        raise CommandError(f"{task_id}: give your verdict first, or show what checks found; the repair is part of it")
    wanted = finding_id or visit.query.get("finding", "")
    if wanted:
        visit.run.require(("finding", wanted))
    found = next((each for each in _candidates(visit, task_id) if wanted in ("", each.id)), None)
    if found is None:
        raise CommandError(f"{task_id}: the audit found nothing in this task that a repair could remove")
    return found
