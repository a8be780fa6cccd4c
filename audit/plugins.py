"""Sources, checks, environments, benchmarks and rule books by name: the built-in ones and those of other packages.

What AgentHard itself has is listed in code, so that a checkout works without an installation. Other packages register
theirs as entry points. Both are imported only when they are used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from agenthard.taxonomy.errors import AgentHardError

GROUPS = "agenthard."
"""What the names of our entry-point groups begin with."""


class PluginError(AgentHardError):
    """What a package registers cannot be used; the message names the package."""

    code = "AH005"
    remedy = "Update or uninstall the package that the message names."


@dataclass(frozen=True)
class Plugin:
    """Something that is registered under a name."""

    name: str
    """The name."""
    target: str
    """Where it is defined, as ``module:name``."""
    package: str = "agenthard"
    """The installed package that registers it."""

    def load(self) -> Any:
        """Import the module and return what is registered.

        Raises:
            PluginError: when the module or the name in it does not exist.
        """
        module, _, path = self.target.partition(":")
        try:
            found: Any = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise PluginError(f"{self.target} of the package {self.package} cannot be loaded: {error}") from error
        return found


def plugins(group: str, built_in: Mapping[str, str]) -> dict[str, Plugin]:
    """Return all plugins of a kind by name: the built-in ones in their order, then the others sorted by name.

    Args:
        group: the entry-point group of the kind, such as ``agenthard.sources``.
        built_in: what AgentHard itself has, as ``module:name`` by name.

    Raises:
        PluginError: when a package registers a name that is taken.
    """
    found = {name: Plugin(name, target) for name, target in built_in.items()}
    for plugin in installed_plugins(group):
        if plugin.name in found:
            owner = "AgentHard itself" if plugin.name in built_in else f"the package {found[plugin.name].package}"
            raise PluginError(
                f"the package {plugin.package} registers {plugin.name!r} under {group}, a name that {owner} uses; "
                f"rename its entry point or uninstall {plugin.package}"
            )
        found[plugin.name] = plugin
    return found


def installed_plugins(group: str) -> tuple[Plugin, ...]:
    """Return what other packages register under an entry-point group, sorted by name and package."""
    return all_installed().get(group, ())


@cache
def all_installed() -> dict[str, tuple[Plugin, ...]]:
    """Read our entry points of all installed packages by group, once: an audit asks hundreds of times."""
    installed: Any = entry_points()
    found = dict[str, tuple[Plugin, ...]]()
    for group in installed.groups:
        if group.startswith(GROUPS):
            entries = [_plugin(entry) for entry in installed.select(group=group)]
            # An editable install from before the built-in plugins were listed in code still has its old entry points.
            others = [plugin for plugin in entries if plugin.package != "agenthard"]
            found[group] = tuple(sorted(others, key=lambda plugin: (plugin.name, plugin.package)))
    return found


def _plugin(entry: EntryPoint) -> Plugin:
    return Plugin(entry.name, entry.value, entry.dist.name if entry.dist else "unknown")
