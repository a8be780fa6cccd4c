"""Runs the checks of tasks over what a source reads."""

from pathlib import Path

from agenthard.audit.detectors.base import TaskDetector
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.sources.base import Quarantine, Quarantined, Source
from agenthard.taxonomy import AgentTask


def read(source: Source) -> dict[str, AgentTask]:
    """Tasks by id; nothing may be quarantined."""
    quarantine = Quarantine()
    tasks = {task.id: task for task in source.tasks(quarantine)}
    assert quarantine.items == []
    return tasks


def quarantined(source: Source) -> list[Quarantined]:
    """What the source could not read as a task."""
    quarantine = Quarantine()
    for _ in source.tasks(quarantine):
        pass
    return quarantine.items


def findings(source: Source) -> set[tuple[str, str]]:
    """(task, check) of every hit of the checks that look at one task alone."""
    return {
        (task.id, check.id)
        for task in read(source).values()
        for check in detectors()
        if isinstance(check, TaskDetector) and check.not_applicable(task) is None
        for _ in check.inspect(task)
    }


def write(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
