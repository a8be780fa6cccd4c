"""Finds the class of a benchmark's environment.

The built-in environments are listed here by the name of their benchmark; other packages register theirs under the
entry-point group ``agenthard.environments``. Environments that run a benchmark's own code from a folder that the user
gives are a kind of their own (``agenthard.checkouts``); their class takes that folder.
"""

from functools import cache
from pathlib import Path

from agenthard.audit.execution.environment import Environment, UnavailableError
from agenthard.audit.plugins import Plugin, PluginError, installed_plugins, plugins
from agenthard.taxonomy.task import AgentTask

GROUP = "agenthard.environments"
CHECKOUTS = "agenthard.checkouts"
BUILT_IN = {
    GROUP: {
        "ace": "agenthard.ace.execution:AceEnvironment",
        "agency": "agenthard.agency.execution:AgencyEnvironment",
        "escape": "agenthard.escape.execution:EscapeEnvironment",
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


def new_environment(benchmark: str, checkout: Path | None = None) -> Environment | None:
    """Make a new environment of a benchmark; ``Execution`` keeps and closes it.

    Args:
        benchmark: name of the benchmark.
        checkout: folder with the benchmark's own code, to be run instead of the built-in environment.

    Returns:
        None when no environment is registered for the benchmark.

    Raises:
        UnavailableError: the registered class cannot be loaded, or none runs the code of the checkout.
    """
    if checkout is None and benchmark not in _registered(GROUP):
        return None
    kind = _load(_entry(benchmark, CHECKOUTS if checkout else GROUP))
    return kind(checkout) if checkout else kind()  # type: ignore[call-arg]


def check_checkout(benchmark: str, folder: Path) -> None:
    """Check before anything starts that a folder can be used as the checkout of a benchmark.

    Raises:
        UnavailableError: when it is not a folder, or nothing runs the code of this benchmark's checkouts.
    """
    if not folder.is_dir():
        raise UnavailableError(f"{folder}: no folder at this path; give a checkout of the benchmark's repository")
    _entry(benchmark, CHECKOUTS)


def has_code(benchmark: str) -> bool:
    """Tell whether runs of a benchmark are scored by code: one that is installed, or one that a checkout brings."""
    return benchmark in _registered(GROUP) or benchmark in _registered(CHECKOUTS)


def inspect_task_of(benchmark: str) -> str:
    """Return the name under which Inspect has a task of a benchmark's own; empty where it has none."""
    known = _registered(GROUP)
    return _load(known[benchmark]).inspect_task if benchmark in known else ""


def why_not_published(task: AgentTask) -> str | None:
    """Return why code cannot score attempts at a task of a published split; None when it can, or there is none."""
    known = {**_registered(CHECKOUTS), **_registered(GROUP)}
    return _load(known[task.benchmark]).why_not_published(task) if task.benchmark in known else None


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
    return _all_of(group, installed_plugins(group))


@cache
def _all_of(group: str, installed: tuple[Plugin, ...]) -> dict[str, Plugin]:
    """Return all plugins of a group, once for what is installed: checks ask for each task."""
    return plugins(group, BUILT_IN[group])


def _load(plugin: Plugin) -> type[Environment]:
    try:
        found = plugin.load()
    except PluginError as error:
        raise UnavailableError(f"the environment of {plugin.name} cannot be used: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Environment)):
        raise UnavailableError(f"the environment of {plugin.name} ({plugin.target}) is not a subclass of Environment")
    return found
