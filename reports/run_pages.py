"""Pages of recorded runs next to a report, for the benchmarks that can show a run as a graph."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenthard.audit.plugins import plugins
from agenthard.reports.kit.page import write_html
from agenthard.taxonomy.run_page import RunPage
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

GROUP = "agenthard.run_pages"
"""Entry points: functions of a task's metadata and a run that return a page, or None for another benchmark's task."""
BUILT_IN = {"escape": "agenthard.escape.recorded:page_of_task"}
FOLDER = "runs"
"""Folder of the pages, next to the report."""
MOST = 100
"""Pages next to one report; each has about 100 kB."""


def write_run_page(path: Path, page: RunPage) -> None:
    """Write the page of a run, a file that opens offline.

    Args:
        path: the file.
        page: what it shows.
    """
    write_html(
        path,
        "room.html.j2",
        styles=["base.css", "top.css", "room.css"],
        scripts=["dom.js", "room.js"],
        data=page.data,
        room=page.title,
        agent=page.agent,
        trial=page.trial,
        outcome=page.outcome,
        summary=page.summary,
        calls=page.calls,
        legend=page.legend,
    )


class RunPages:
    """The pages next to one report; older ones are removed, and after ``MOST`` no more are written."""

    def __init__(self, report: Path) -> None:
        """Start without pages.

        Args:
            report: file of the report.
        """
        self._folder = report.parent / FOLDER
        for old in self._folder.glob("run-*.html"):
            old.unlink()
        self._written = 0
        self._makers = [plugin.load() for plugin in plugins(GROUP, BUILT_IN).values()]

    @property
    def full(self) -> bool:
        """Whether no more pages are written."""
        return self._written >= MOST

    def add(self, page: RunPage, run: Trajectory) -> str:
        """Write a page.

        Returns:
            Its path from the report.
        """
        name = f"run-{hashlib.sha256(run.id.encode()).hexdigest()[:16]}.html"
        write_run_page(self._folder / name, page)
        self._written += 1
        return f"{FOLDER}/{name}"

    def link(self, task: AgentTask, described: Mapping[str, Any], runs: Mapping[str, Trajectory]) -> None:
        """Write pages of the runs that a task's description shows, and name them there as ``page``.

        Args:
            task: the task.
            described: its description, with the runs under ``models``.
            runs: its runs by id.
        """
        for run in (run for model in described["models"] for run in model["runs"]):
            if self.full:
                return
            page = self._page(task.metadata, runs[run["id"]])
            if page is not None:
                run["page"] = self.add(page, runs[run["id"]])

    def _page(self, metadata: Mapping[str, Any], run: Trajectory) -> RunPage | None:
        for make in self._makers:
            page: RunPage | None = make(metadata, run)
            if page is not None:
                return page
        return None
