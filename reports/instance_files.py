"""Files with the tasks of a report, which its page loads when a task is opened.

A page that was opened from disk cannot fetch data, so each file is a script that calls one global function. It holds
tasks until it has about half a megabyte; texts that tasks share are in it once. The page allows these scripts by
``strict-dynamic``: only what its own script, named by hash, asks for is run.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.audit.execution.shown_replay import ShownReplay
from agenthard.reports.instance import Block, Instances
from agenthard.reports.kit.files import json_text
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.reports.run_pages import RunPages
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.trajectory import Trajectory

FOLDER = "instances"
"""Folder of the files, next to the page."""
FILE_SIZE = 500_000
"""Characters after which a file is complete."""


class Executions(NamedTuple):
    """What was executed for the tasks of an audit. Each is read once."""

    runs: Iterable[Trajectory] = ()
    """All runs; those of one task follow one another."""
    replays: Iterable[ShownReplay] = ()
    """Replays of ground truths."""


def write_instances(
    result: AuditResult, places: Places, task_ids: Iterable[str], executed: Executions, page: Path
) -> dict[str, int]:
    """Write the tasks that a page can open.

    Args:
        result: the audit.
        places: finds quotes in the benchmark's files.
        task_ids: the tasks.
        executed: runs and replays.
        page: the page; the files are written into the folder ``instances`` next to it, pages of runs into ``runs``,
            and older ones are removed.

    Returns:
        Number of the file by task.
    """
    folder = page.parent / FOLDER
    for old in folder.glob("[0-9]*.js"):
        old.unlink()
    numbers: dict[str, int] = {}
    file, number = _File(), 1
    pages = RunPages(page)
    for task in _described(Instances(result, places), result, task_ids, executed, pages):
        file.add(task)
        numbers[task["id"]] = number
        if file.size > FILE_SIZE:
            write_text(folder / file_name(number), file.text(number))
            file, number = _File(), number + 1
    if file.tasks:
        write_text(folder / file_name(number), file.text(number))
    return numbers


def file_name(number: int) -> str:
    """Return the name of a file.

    >>> file_name(7)
    '0007.js'
    """
    return f"{number:04d}.js"


def _described(
    instances: Instances, result: AuditResult, task_ids: Iterable[str], executed: Executions, pages: RunPages
) -> Iterator[dict[str, Any]]:
    """Describe the tasks that have runs, in the order of the runs, then the others."""
    left, tasks = dict.fromkeys(task_ids), result.task
    replays = {replay.task_id: replay for replay in executed.replays if replay.task_id in left}
    for task_id, own in groupby(executed.runs, key=attrgetter("task_id")):
        if task_id in left:
            del left[task_id]
            runs = {run.id: run for run in own}
            described = instances.describe(tasks[task_id], tuple(runs.values()), replays.get(task_id))
            pages.link(tasks[task_id], described, runs)
            yield described
    for task_id in left:
        yield instances.describe(tasks[task_id], replay=replays.get(task_id))


class _File:
    """The content of one file: tasks whose blocks are numbers, and the blocks."""

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.size = 0
        self._blocks: dict[str, int] = {}

    def add(self, task: Mapping[str, Any]) -> None:
        parts = [part | {"blocks": [self._number(block) for block in part["blocks"]]} for part in task["parts"]]
        text = json_text({**task, "parts": parts}, separators=(",", ":"))
        self.tasks.append(text)
        self.size += len(text)

    def _number(self, block: Block) -> int:
        text = json_text(block, separators=(",", ":"))
        if text not in self._blocks:
            self._blocks[text] = len(self._blocks)
            self.size += len(text)
        return self._blocks[text]

    def text(self, number: int) -> str:
        content = f'{{"blocks":[{",".join(self._blocks)}],"tasks":[{",".join(self.tasks)}]}}'
        content = content.replace("<", "\\u003c")
        return f"agenthardInstances({number},{content});\n"
