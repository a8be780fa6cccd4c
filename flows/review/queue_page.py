"""The queue: instances in review order, filters in the address, pages of 50."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agenthard.flows.review.rendering import Visit, render

PAGE = 50
"""Instances on a page."""


@dataclass
class Selection:
    """What the filters of an address choose, in the order of the reviewer."""

    visit: Visit
    filters: Mapping[str, str]

    @classmethod
    def of(cls, visit: Visit) -> "Selection":
        """Read the filters of an address."""
        return cls(visit, {})

    @property
    def by_checks(self) -> bool:
        """Whether the list tells something of what checks found."""
        return False

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids of the chosen tasks, in order."""
        return self.visit.run.order

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
        """Return the tasks before and after a task."""
        at = self.ids.index(task_id)
        return (self.ids[at - 1] if at else None, self.ids[at + 1] if at + 1 < len(self.ids) else None)


def queue_page(visit: Visit) -> str:
    """Render the queue."""
    selection = Selection.of(visit)
    return render("queue.html.j2", visit, data={"list": selection.url()}, selection=selection, rows=selection.ids[:PAGE])
