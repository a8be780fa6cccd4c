"""Scenario packs: scenarios with their files, graders and solutions, in packages that are installed.

A pack is a Python package with ``SCENARIO``, ``seed(folder)``, ``CHECKS``, and the folders ``gold`` and ``solutions``;
``VIEWS`` may hold plans that show its pages to judges that see.
Those of AgentHard are below ``agenthard.agency.suite``; others register theirs as entry points. A suite on disk never
brings code: it names a scenario, and the graders come from the installed pack.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from agenthard.agency.judges import Check
from agenthard.agency.judges.probe import SUITE
from agenthard.agency.sandbox import Plan
from agenthard.agency.scenario import Scenario
from agenthard.audit.plugins import PluginError, plugins

GROUP = "agenthard.scenarios"
OWN = "agenthard.agency.suite"


@dataclass(frozen=True)
class Pack:
    """An installed scenario."""

    scenario: Scenario
    """The scenario."""
    folder: Path
    """Folder of its package."""
    seed: Callable[[Path], None]
    """Writes the files that the first task begins with into an empty folder."""
    checks: Mapping[str, Check]
    """What decides its criteria, by name."""
    views: Mapping[str, Plan] = field(default_factory=dict)
    """What judges that see look at, by task; tasks without a plan are seen as their page opens."""

    @property
    def hidden(self) -> Path:
        """Folder that no agent and no graded program may look into: graders, gold and solutions are below it."""
        return SUITE if self.folder.resolve().is_relative_to(SUITE) else self.folder

    @property
    def gold(self) -> Path | None:
        """Folder of its gold files; None when it has none."""
        return self._below("gold")

    @property
    def solutions(self) -> Path | None:
        """Folder of its solutions by name; None when it has none."""
        return self._below("solutions")

    def _below(self, name: str) -> Path | None:
        return self.folder / name if (self.folder / name).is_dir() else None


@cache
def packs() -> dict[str, Pack]:
    """Return all installed packs by the id of their scenario.

    Raises:
        PluginError: a package cannot be imported, is not a pack, or has a scenario of a name that is taken.
    """
    found: dict[str, Pack] = {}
    for target in _targets():
        pack = pack_of(importlib.import_module(target))
        if pack.scenario.id in found:
            raise PluginError(f"{target}: another package has the scenario {pack.scenario.id!r}; rename one")
        found[pack.scenario.id] = pack
    return found


def pack_of(module: Any) -> Pack:
    """Return the pack that a package is.

    Raises:
        PluginError: it lacks something.
    """
    missing = [name for name in ("SCENARIO", "seed", "CHECKS") if not hasattr(module, name)]
    if missing:
        raise PluginError(f"{module.__name__} is not a scenario pack: it has no {', '.join(missing)}")
    views = getattr(module, "VIEWS", {})
    return Pack(module.SCENARIO, Path(module.__file__).parent, module.seed, module.CHECKS, views)


def _targets() -> Iterator[str]:
    """Yield the modules of all packs."""
    own = importlib.util.find_spec(OWN)
    if own is not None:
        places = list(own.submodule_search_locations or ())
        yield from sorted(
            f"{OWN}.{each.name}"
            for each in pkgutil.iter_modules(places)
            if each.ispkg and any((Path(place) / each.name / "solutions").is_dir() for place in places)
        )
    yield from (plugin.target for plugin in plugins(GROUP, {}).values())
