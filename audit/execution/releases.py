"""Which installed release's code belongs to a task: the one whose own data holds the task's content hash.

Executing a task with the code of another release is worse than not executing it: a method that came or went looks like
a wrong ground truth. So there is no nearest release and no default one.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.venvs import create_command
from agenthard.audit.sources.fetch import Fetched, fetched, known_releases
from agenthard.taxonomy.task import AgentTask

ContentHashes = Callable[[Path], Iterator[str]]
"""Gives the content hashes of all tasks in a folder of data."""


def release_of(task: AgentTask, content_hashes: ContentHashes) -> Fetched:
    """Find the installed release that a task is of; where several have the same task, the newest.

    Releases that are installed later, while the process runs, are found too.

    Args:
        task: the task.
        content_hashes: reads those of a release.

    Raises:
        UnavailableError: no installed release has the task; the message names the command that brings one.
    """
    installed = fetched(task.benchmark)
    for item in reversed(installed):
        if task.content_hash in _contents(content_hashes, item.data, item.data.stat().st_mtime_ns):
            return item
    raise UnavailableError(_no_code(task, [item.version for item in installed]))


@lru_cache(maxsize=8)
def _contents(content_hashes: ContentHashes, data: Path, changed: int) -> frozenset[str]:
    return frozenset(content_hashes(data))


def _no_code(task: AgentTask, installed: list[str]) -> str:
    """Say why a task is not executed, in the same words for all tasks of one kind: reports count equal reasons."""
    name = task.benchmark
    if task.content_hash is None:
        return f"the task does not tell which release of {name} it is of, so none of its code is run"
    there = f"installed: {', '.join(installed) or 'none'}"
    data = task.content_hash.partition(":")[0]
    missing = [each for each in known_releases(name) if each.data == data and each.version not in installed]
    if missing:
        command = create_command(name, missing[-1].version)
        return f"no code of this release (data {data}; {there}): `{command}` brings it"
    command = f"{create_command(name, 'RELEASE')} --unpinned"
    return (
        f"no code of this release (data {data}; {there}): the task's question, answer or documentation differs from "
        f"theirs; where it is of another release, `{command}` brings its code"
    )
