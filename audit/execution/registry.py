"""Finding the environment of a task.

Environments are registered under the entry-point group ``agenthard.environments`` by the name of their benchmark, as
anyone else's may be.
"""

import threading
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from audit.execution.environment import Environment, Unavailable
from taxonomy.task import AgentTask

GROUP = "agenthard.environments"

_held = threading.local()


def environment_for(task: AgentTask) -> Environment | None:
    """Return the environment of a task's benchmark; each thread of a process keeps one of its own.

    Returns:
        None when no environment is registered for the benchmark. Whether it can execute this very task is for its
        ``supports`` to say.

    Raises:
        Unavailable: when the registered class cannot be loaded.
    """
    if task.benchmark not in _registered():
        return None
    held: dict[str, Environment] = _held.__dict__
    if task.benchmark not in held:
        held[task.benchmark] = _load(_registered()[task.benchmark])()
    return held[task.benchmark]


def environment_names() -> list[str]:
    """Name the benchmarks that have an environment, sorted."""
    return sorted(_registered())


@cache
def _registered() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _load(entry: EntryPoint) -> type[Environment]:
    try:
        found = entry.load()
    except (ImportError, AttributeError) as error:
        raise Unavailable(f"the environment of {entry.name} cannot be loaded ({entry.value}): {error}") from error
    if not (isinstance(found, type) and issubclass(found, Environment)):
        raise Unavailable(f"the environment of {entry.name} ({entry.value}) is no subclass of Environment")
    return found
