"""Finding a source by name, or by looking at a folder.

Sources are registered under the entry-point group ``agenthard.sources``, as anyone else's benchmark may be.
"""

from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from audit.sources.base import Source, SourceError

GROUP = "agenthard.sources"


@cache
def sources() -> dict[str, type[Source]]:
    """Return all registered sources by name, in order of name."""
    return {entry.name: entry.load() for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name)}


def open_source(name: str, root: Path, domains: tuple[str, ...] = ()) -> Source:
    """Open a benchmark folder with the source named ``name``.

    Raises:
        SourceError: when the name is unknown, the path is absent, or the folder is not laid out as this benchmark;
            the message names the source that does recognise the folder, if one does.
    """
    known = sources()
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
