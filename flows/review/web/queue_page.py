"""The page of the queue, and the list that a task was opened from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agenthard.flows.review.queue import QueueSettings, stored_queue
from agenthard.flows.review.web.listing import Listed
from agenthard.flows.review.web.rendering import Visit, render

PAGE = 50
"""Instances on a page."""
QUICK: tuple[tuple[str, dict[str, str]], ...] = (
    ("All", {}),
    ("Open for you", {"status": "open"}),
    ("Assigned to you", {"status": "assigned"}),
    ("Disputed", {"status": "disputed"}),
    ("Every run fails", {"runs": "all_fail"}),
    ("Changes the leaderboard", {"leaderboard": "changes"}),
)
"""Filters one click away."""


@dataclass
class Selection:
    """What the filters of an address choose, in the order of the reviewer."""

    visit: Visit
    """Who looks."""
    filters: Mapping[str, str]
    """Values by name of the filter."""

    @classmethod
    def of(cls, visit: Visit) -> "Selection":
        """Read the filters of an address."""
        names = (*(facet.name for facet in visit.listing.facets), "status", "by", "queue", "q")
        return cls(visit, {name: visit.query[name] for name in names if visit.query.get(name)})

    @cached_property
    def listed(self) -> Listed:
        """What the filters leave, and how many each choice would leave."""
        return self.visit.listing.select(self.filters, self.visit.user.name)

    @cached_property
    def queue(self) -> QueueSettings | None:
        """The named queue that the list is limited to; None without one."""
        return stored_queue(self.visit.run.folder, self.filters.get("queue", ""))

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the chosen tasks, in order."""
        return self.listed.ids

    @property
    def by_checks(self) -> bool:
        """Whether the list tells something of what checks found."""
        return any(facet.by_checks and facet.name in self.filters for facet in self.visit.listing.facets)

    def url(self, **changes: object) -> str:
        """Return the address of the list."""
        return self.visit.url("queue", **{**self.filters, **changes})

    def task_url(self, task_id: str) -> str:
        """Return the address of a task within the list."""
        return self.visit.url("task", task=task_id, **self.filters)

    def place(self, task_id: str) -> int | None:
        """Return the place of a task in the list; None when it is not there."""
        return self.ids.index(task_id) + 1 if task_id in self.ids else None

    def neighbours(self, task_id: str) -> tuple[str | None, str | None]:
        """Return the tasks of the list before and after a task, also where a verdict has just taken it off the list."""
        place = {each: number for number, each in enumerate(self.visit.listing.order(self.visit.user.name))}
        here = place[task_id]
        before = [each for each in self.ids if place[each] < here][-1:]
        after = next((each for each in self.ids if place[each] > here), None)
        return next(iter(before), None), after


def queue_page(visit: Visit) -> str:
    """Render the queue."""
    selection = Selection.of(visit)
    pages = max(-(-len(selection.ids) // PAGE), 1)
    wanted = visit.query.get("page", "1")
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() and len(wanted) < 9 else 1
    facets = [(facet.name, facet.title, facet.by_checks) for facet in visit.listing.facets]
    return render(
        "queue.html.j2",
        visit,
        data={"list": selection.url()},
        selection=selection,
        rows=[_row(visit, task_id) for task_id in selection.ids[(page - 1) * PAGE : page * PAGE]],
        page=page,
        pages=pages,
        facets=[*facets, ("status", "Status", False), ("by", "Verdict by", False), ("queue", "Queue", False)],
        quick=_quick(visit, selection),
    )


def _quick(visit: Visit, selection: Selection) -> list[tuple[str, str, bool, int]]:
    """Title, address and size of the lists one click away, and whether each is the present one."""
    every = selection if not selection.filters else Selection(visit, {})
    counts = {(name, each.value): each.count for name, group in every.listed.choices.items() for each in group}
    return [
        (
            title,
            visit.url("queue", **chosen),
            chosen == dict(selection.filters),
            sum(counts.get(item, 0) for item in chosen.items()) if chosen else len(every.ids),
        )
        for title, chosen in QUICK
    ]


def _row(visit: Visit, task_id: str) -> dict[str, Any]:
    item = visit.run.item(("task", task_id))
    own = item.verdicts.get(visit.user.name)
    seen = visit.sees(task_id)
    row = visit.listing.row(task_id)
    components = {each.id: each.component for each in visit.run.taxonomy.categories}
    return {
        "row": row,
        "seen": seen,
        "action": visit.run.decisions[task_id].action,
        "categories": [(each, components.get(each, "")) for each in row.categories],
        "item": item,
        "own": own.data["flaw"] if own else "",
        "others": len([by for by in item.verdicts if by != visit.user.name]),
    }
