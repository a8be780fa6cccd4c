"""A recorded run of a task as a graph whose parts change state call by call: what a page of it shows."""

from typing import Any

from pydantic import Field

from agenthard.taxonomy.record import Record


class RunPage(Record):
    """What a page of one run shows; the same for every benchmark that can say it."""

    title: str
    """What was played."""
    agent: str
    """Who played."""
    trial: int
    """Number of the repetition, from 0."""
    outcome: str
    """How it ended, in a few words."""
    summary: str
    """Figures in one sentence."""
    legend: tuple[tuple[str, str, str], ...]
    """States of a part: the word in the data, a sign, and what it means."""
    data: dict[str, Any] = Field(repr=False)
    """``parts`` with their place in the graph, ``links``, and ``steps`` with the parts' states after each call."""

    @property
    def calls(self) -> int:
        """Calls of the run."""
        return len(self.data["steps"]) - 1
