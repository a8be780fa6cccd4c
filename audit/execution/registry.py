"""Finding the environment of a task.

The built-in environments are listed here by the name of their benchmark; other packages register theirs under the
entry-point group ``agenthard.environments``. Environments that run a benchmark's own code from a folder that the user
gives are a kind of their own (``agenthard.checkouts``); their class takes that folder.
"""

import threading
from pathlib import Path

from agenthard.audit.execution.checkout import checkout
from agenthard.audit.execution.environment import Environment, UnavailableError
from agenthard.audit.plugins import Plugin, PluginError, plugins
from agenthard.taxonomy.task import AgentTask

GROUP = "agenthard.environments"
CHECKOUTS = "agenthard.checkouts"
BUILT_IN = {
    GROUP: {
        "ace": "agenthard.ace.execution:AceEnvironment",
        "acebench": "agenthard.audit.execution.acebench:AceBenchEnvironment",
        "bfcl": "agenthard.audit.execution.bfcl.environment:BfclEnvironment",
        "tau-bench": "agenthard.audit.execution.tau:TauBenchEnvironment",
        "tau2": "agenthard.audit.execution.tau:Tau2Environment",
    },
    CHECKOUTS: {
        "acebench": "agenthard.audit.execution.acebench:AceBenchEnvironment",
        "tau-bench": "agenthard.audit.execution.tau.own_code:TauBenchCheckout",
        "tau2": "agenthard.audit.execution.tau.own_code:Tau2Checkout",
    },
}
"""What AgentHard itself has, by entry-point group and benchmark."""

_held = threading.local()


def environment_for(task: AgentTask) -> Environment | None:
    """Return the environment of a task's benchmark; each thread of a process keeps one of its own.

    Returns:
        None when no environment is registered for the benchmark. Whether it can execute this very task is for its
        ``supports`` to say.

    Raises:
        UnavailableError: when the registered class cannot be loaded, or none runs the code of the checkout in use.
    """
    folder = checkout()
    if folder is None and task.benchmark not in _registered(GROUP):
        return None
    entry = _entry(task.benchmark, CHECKOUTS if folder else GROUP)
    held: dict[tuple[str, Path | None], Environment] = _held.__dict__.setdefault("environments", {})
    key = (task.benchmark, folder)
    if key not in held:
        kind = _load(entry)
        held[key] = kind(folder) if folder else kind()  # type: ignore[call-arg]
    return held[key]


def environment_for_runs(task: AgentTask) -> Environment | None:
    """Return the environment that can carry out and judge recorded runs of a task again; None where there is none."""
    try:
        environment = environment_for(task)
    except UnavailableError:
        return None
    if environment is None or not environment.reads_runs or environment.supports(task) is not None:
        return None
    return environment


def check_checkout(benchmark: str, folder: Path) -> None:
    """Check before anything starts that a folder can be used as the checkout of a benchmark.

    Raises:
        UnavailableError: when it is no folder, or nothing runs the code of this benchmark's checkouts.
    """
    if not folder.is_dir():
        raise UnavailableError(
            f"{folder}: there is no folder at this path; give a checkout of the benchmark's repository"
        )
    _entry(benchmark, CHECKOUTS)


def release_environments() -> None:
    """Close the environments of this thread and forget them; the next task that asks gets new ones."""
    held: dict[tuple[str, Path | None], Environment] = _held.__dict__.get("environments", {})
    while held:
        held.popitem()[1].close()


def has_code(benchmark: str) -> bool:
    """Tell whether runs of a benchmark are scored by code: one that is installed, or one that a checkout brings."""
    return benchmark in _registered(GROUP) or benchmark in _registered(CHECKOUTS)


def environment_names() -> list[str]:
    """Name the benchmarks that have an environment, sorted."""
    return sorted(_registered(GROUP))


def _entry(benchmark: str, group: str) -> Plugin:
    known = _registered(group)
    if benchmark not in known:
        names = ", ".join(sorted(known))
        raise UnavailableError(f"the code of {benchmark} cannot be run from a checkout; that of {names} can")
    return known[benchmark]


def _registered(group: str) -> dict[str, Plugin]:
    return plugins(group, BUILT_IN[group])


def _load(plugin: Plugin) -> type[Environment]:
    try:
        found = plugin.load()
    except PluginError as error:
        raise UnavailableError(f"the environment of {plugin.name} cannot be used: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Environment)):
        raise UnavailableError(f"the environment of {plugin.name} ({plugin.target}) is not a subclass of Environment")
    return found
