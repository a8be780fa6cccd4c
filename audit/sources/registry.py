"""Finding a source by name, or by looking at a folder.

Sources are registered under the entry-point group ``agenthard.sources``, as anyone else's benchmark may be.
"""

from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from agenthard.audit.sources.base import Source, SourceError

GROUP = "agenthard.sources"


def sources() -> dict[str, type[Source]]:
    """Return all registered sources that can be loaded by name, in order of name."""
    return _loaded()[0]


@cache
def _loaded() -> tuple[dict[str, type[Source]], dict[str, str]]:
    """Sources by name, and why others cannot be loaded: a broken package of somebody's must not take the rest along."""
    found: dict[str, type[Source]] = {}
    broken: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            found[entry.name] = entry.load()
        except (ImportError, AttributeError) as error:
            broken[entry.name] = f"{entry.value} cannot be loaded: {error}"
    return found, broken


def open_source(name: str, root: Path, domains: tuple[str, ...] = ()) -> Source:
    """Open a benchmark folder with the source named ``name``.

    Raises:
        SourceError: when the name is unknown, the path is absent, or the folder is not laid out as this benchmark;
            the message names the source that does recognise the folder, if one does.
    """
    known, broken = _loaded()
    if name in broken:
        raise SourceError(f"the source {name!r} is registered, but {broken[name]}; mend or remove its package")
    if name not in known:
        raise SourceError(f"no source {name!r}; there are {', '.join(known)} (`agenthard sources` describes them)")
    if not root.exists():
        raise SourceError(f"{root}: there is nothing at this path")
    try:
        return known[name](root, domains)
    except SourceError as error:
        other = next((key for key, source in known.items() if key != name and source.recognises(root)), None)
        hint = f". It looks like {other}: try `agenthard audit {other} {root}`" if other else ""
        raise SourceError(f"{error}{hint}") from error
