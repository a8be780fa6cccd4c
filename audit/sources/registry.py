"""Finds a source by name: the built-in ones, and those that other packages register under ``agenthard.sources``."""

from pathlib import Path
from typing import cast

from agenthard.audit.plugins import PluginError, plugins
from agenthard.audit.sources.base import Source, SourceError

GROUP = "agenthard.sources"
BUILT_IN = {
    "ace": "agenthard.ace.source:AceBench",
    "acebench": "agenthard.audit.sources.acebench:AceBench",
    "agency": "agenthard.agency.source:AgencySuite",
    "agencybench": "agenthard.audit.sources.agencybench:AgencyBench",
    "bfcl": "agenthard.audit.sources.bfcl:BFCL",
    "chat": "agenthard.audit.sources.chat:Chat",
    "complexfuncbench": "agenthard.audit.sources.complexfuncbench:ComplexFuncBench",
    "drafterbench": "agenthard.audit.sources.drafterbench:DrafterBench",
    "escape": "agenthard.escape.source:EscapeRooms",
    "hf": "agenthard.audit.sources.hf:HuggingFace",
    "inspect": "agenthard.audit.sources.inspect_logs:InspectLogs",
    "mapping": "agenthard.audit.sources.mapping:MappingSource",
    "native": "agenthard.audit.sources.native:Native",
    "tau-bench": "agenthard.audit.sources.tau.tau_bench:TauBench",
    "tau2": "agenthard.audit.sources.tau.tau2:Tau2Bench",
}

_GENERAL = ("chat", "hf")
"""Sources that recognise rows of a general kind, which a benchmark with a source of its own may have too."""


def sources() -> dict[str, type[Source]]:
    """Return all sources by name, in order of name. One whose package cannot be loaded is left out."""
    found: dict[str, type[Source]] = {}
    for name in sorted(plugins(GROUP, BUILT_IN)):
        try:
            found[name] = source_class(name)
        except SourceError:
            continue
    return found


def detect_name(root: Path) -> str:
    """Name the one source that recognises a folder or file.

    Sources of general rows (chat, hf) count only where no other source recognises it.

    Raises:
        SourceError: when no source recognises it, or several do; the message lists the candidates.
    """
    if not root.exists():
        raise SourceError(f"{root}: there is nothing at this path")
    known = sources()
    found = [name for name, source in known.items() if source.recognises(root)]
    found = [name for name in found if name not in _GENERAL] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(f"{root}: {len(found)} sources recognise it ({', '.join(found)}); choose one by name")
    layouts = "\n".join(f"  {name}: {source.layout}" for name, source in known.items())
    raise SourceError(f"{root}: no source recognises it. A mapping file describes other data. The sources:\n{layouts}")


def source_class(name: str) -> type[Source]:
    """Return the class of the source ``name``.

    Raises:
        SourceError: No such source, or its package cannot be loaded.
    """
    registered = plugins(GROUP, BUILT_IN)
    if name not in registered:
        names = ", ".join(sources())
        raise SourceError(f"no source {name!r}; there are {names} (`agenthard sources` describes them)")
    try:
        return cast(type[Source], registered[name].load())
    except PluginError as error:
        raise SourceError(f"the source {name!r} is registered, but {error}; fix or uninstall the package") from error


def open_source(name: str, root: Path, domains: tuple[str, ...] = ()) -> Source:
    """Open a benchmark folder with the source named ``name``.

    Raises:
        SourceError: when the name is unknown, the path is absent, or the folder is not laid out as this benchmark;
            the message names the source that does recognise the folder, if one does.
    """
    source = source_class(name)
    if not root.exists():
        raise SourceError(f"{root}: there is nothing at this path")
    try:
        return source(root, domains)
    except SourceError as error:
        other = next((key for key, known in sources().items() if key != name and known.recognises(root)), None)
        hint = f". It looks like {other}: try `agenthard audit {other} {root}`" if other else ""
        raise SourceError(f"{error}{hint}") from error
