"""Parameters that a tool's documentation speaks of without having them."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.support.parameters import parameters_of
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolSpec

_NAME = r"[A-Za-z_][\w.]*"
_IN_PROSE = re.compile(
    rf"\b(?:parameter|argument)s?\s+[`'\"](?P<after>{_NAME})[`'\"]"
    rf"|[`'\"](?P<before>{_NAME})[`'\"]\s+(?:parameter|argument)\b"
    rf"|(?:@|:)param\s+(?:\w+\s+)?(?P<tag>{_NAME}):?"
)
_SECTION = re.compile(
    r"^[ \t]*(?:Args|Arguments|Parameters):[ \t]*\n(?P<lines>(?:[ \t]+\S.*(?:\n|\Z)|[ \t]*\n)+)", re.MULTILINE
)
_ENTRY = re.compile(rf"^(?P<indent>[ \t]+)(?P<name>{_NAME})[ \t]*(?:\([^()\n]*\))?:", re.MULTILINE)


def mentioned_parameters(tool: ToolSpec) -> Iterator[tuple[str, str, str]]:
    """Yield each parameter that the texts of ``tool`` name and that it does not have.

    A name counts when the text calls it a parameter or an argument, marks it with ``@param`` or ``:param``, or lists
    it under "Args:". Names of the tool itself, of its parameters at any depth and of its response are known.

    Yields:
        JSON Pointer of the text relative to the ToolSpec, the name, and the passage that names it.
    """
    parameters = parameters_of(tool)
    known = {parameter.name for parameter in parameters} | {parameter.path for parameter in parameters} | {tool.name}
    known |= set((tool.returns or {}).get("properties") or {})
    texts = [("/description", tool.description)]
    texts += [(join(parameter.pointer, "description"), parameter.text) for parameter in parameters]
    for pointer, text in texts:
        for name, passage in _named(text):
            if name not in known:
                known.add(name)
                yield pointer, name, passage


def _named(text: str) -> Iterator[tuple[str, str]]:
    for match in _IN_PROSE.finditer(text):
        yield match["after"] or match["before"] or match["tag"].rstrip("."), match[0]
    for section in _SECTION.finditer(text):
        entries = list(_ENTRY.finditer(section["lines"]))
        outer = min((len(entry["indent"]) for entry in entries), default=0)
        for entry in entries:
            if len(entry["indent"]) == outer:
                yield entry["name"], entry[0].strip()
