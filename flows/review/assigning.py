"""Who reviews what: a plan that shares instances among reviewers, some of them to two, and its page."""

from collections.abc import Iterable, Sequence
from random import Random

from agenthard.flows.errors import CommandError
from agenthard.flows.review.queue_page import Selection
from agenthard.flows.review.rendering import Visit, render
from agenthard.taxonomy.record import Record

MOST_ITEMS = 2000
"""Instances that one plan assigns."""


class Assignment(Record):
    """An instance and who reviews it."""

    task_id: str
    """Task."""
    reviewer: str
    """Reviewer."""


def share(task_ids: Sequence[str], reviewers: Sequence[str], overlap: float, seed: str) -> list[Assignment]:
    """Share instances among reviewers in turn, and give a share of them to a second reviewer too.

    Args:
        task_ids: instances, in order.
        reviewers: reviewers.
        overlap: share of the instances that two people review, from 0 to 1; it is rounded up.
        seed: what the draw of these instances depends on.

    Returns:
        The assignments in the order of the instances. With one reviewer there is no overlap.

    >>> [(each.task_id, each.reviewer) for each in share(["a", "b"], ["ana", "ben"], 0.0, "")]
    [('a', 'ana'), ('b', 'ben')]
    >>> len(share(["a", "b", "c", "d"], ["ana", "ben"], 0.5, ""))
    6
    """
    count = len(reviewers)
    twice = -int(-len(task_ids) * overlap // 1) if count > 1 else 0
    drawn = set(Random(seed).sample(range(len(task_ids)), min(twice, len(task_ids))))
    found = []
    for number, task_id in enumerate(task_ids):
        for second in range(2 if number in drawn else 1):
            # The second reviewer changes from round to round, so that all pairs of reviewers meet.
            step = number + second * (1 + number // count % (count - 1)) if second else number
            found.append(Assignment(task_id=task_id, reviewer=reviewers[step % count]))
    return found


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
        data={"plan": [each.model_dump() for each in plan], "queue": selection.url()},
        selection=selection,
        chosen=chosen,
        items=items,
        overlap=overlap,
        free=len(free),
        load=_load(plan, chosen),
        twice=len(plan) - len({each.task_id for each in plan}),
    )


def _load(plan: Iterable[Assignment], reviewers: Iterable[str]) -> dict[str, int]:
    return {name: sum(each.reviewer == name for each in plan) for name in reviewers}


def _number(visit: Visit, name: str, usual: float, least: float, most: float) -> float:
    try:
        found = float(visit.query.get(name) or usual)
    except ValueError:
        found = least - 1
    if not least <= found <= most:
        raise CommandError(f"{name} is a number from {least:g} to {most:,.0f}")
    return found
