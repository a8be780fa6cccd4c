"""The page where an admin shares instances among reviewers, some of them to two."""

from collections import Counter
from collections.abc import Iterable

from agenthard.flows.errors import CommandError
from agenthard.flows.review.queue import share
from agenthard.flows.review.web.queue_page import Selection
from agenthard.flows.review.web.rendering import Visit, render

MOST_ITEMS = 2000
"""Instances that one plan assigns."""


def assign_page(visit: Visit) -> str:
    """Render the plan that the query describes; its button sends it.

    Raises:
        CommandError: the person is not an admin, or the query names unknown reviewers or wrong numbers.
    """
    if not visit.user.administers:
        raise CommandError("only an admin assigns instances")
    selection = Selection.of(visit)
    chosen = [name for name in visit.query.get("reviewers", "").split(",") if name] or list(visit.people)
    unknown = [name for name in chosen if name not in visit.people]
    if unknown:
        raise CommandError(f"no reviewer {unknown[0]!r}; there are {', '.join(visit.people)}")
    items = int(_number(visit, "items", 50, 1, MOST_ITEMS))
    overlap = _number(visit, "overlap", 20, 0, 100)
    free = [task_id for task_id in selection.ids if not visit.run.item(("task", task_id)).assigned]
    plan = share(free[:items], chosen, overlap / 100, visit.run.name)
    return render(
        "assign.html.j2",
        visit,
        data={"plan": plan, "queue": selection.url()},
        selection=selection,
        chosen=chosen,
        items=items,
        overlap=overlap,
        free=len(free),
        load=_load(plan, chosen),
        twice=len(plan) - len({task_id for task_id, _ in plan}),
    )


def _load(plan: Iterable[tuple[str, str]], reviewers: Iterable[str]) -> dict[str, int]:
    counts = Counter(reviewer for _, reviewer in plan)
    return {name: counts[name] for name in reviewers}


def _number(visit: Visit, name: str, usual: float, least: float, most: float) -> float:
    try:
        found = float(visit.query.get(name) or usual)
    except ValueError:
        found = least - 1
    if not least <= found <= most:
        raise CommandError(f"{name} is a number from {least:g} to {most:,.0f}")
    return found
