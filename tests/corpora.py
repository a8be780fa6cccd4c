"""Tasks of the real benchmark files, read once per process: many tests look at the same ones."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agenthard.audit.sources.base import Quarantine, Source
from agenthard.taxonomy import AgentTask


def tasks_of(source: type[Source], root: Path, domains: Sequence[str] = ()) -> tuple[AgentTask, ...]:
    """Return the readable tasks of a benchmark."""
    return _read(source, root, tuple(domains))


@cache
def _read(source: type[Source], root: Path, domains: tuple[str, ...]) -> tuple[AgentTask, ...]:
    return tuple(source(root, domains).tasks(Quarantine()))
