"""Google-style docstrings of tools, split the way the benchmark shows them to a model."""

import inspect
import re
from dataclasses import dataclass, field

_ARGUMENTS = ("Args", "Arguments", "Parameters", "Params")
_OTHERS = ("Returns", "Yields", "Raises", "Except", "Exceptions", "Example", "Examples", "Attributes")
_SECTION = re.compile(rf"^({'|'.join((*_ARGUMENTS, *_OTHERS))}):")


@dataclass(frozen=True)
class Docstring:
    """The parts of a docstring that the benchmark turns into a tool."""

    description: str
    """First line, and after an empty line the rest of the text before the sections."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Description of each argument."""
    returns: str | None = None
    """Description of what is returned, without the type before the first colon."""


def parse_docstring(text: str | None) -> Docstring:
    r"""Split a docstring.

    >>> parse_docstring("Do it.\nNow.\n\nArgs:\n    a: The a,\n        such as 1.\n\nReturns:\n    The b.")
    Docstring(description='Do it.\n\nNow.', arguments={'a': 'The a,\nsuch as 1.'}, returns='The b.')
    """
    sections: dict[str, list[str]] = {"": []}
    current = ""
    for line in inspect.cleandoc(text or "").splitlines():
        heading = _SECTION.match(line)
        if heading:
            current = heading.group(1)
            rest = line[heading.end() :].strip()
            sections[current] = [rest] if rest else []
        else:
            sections[current].append(line)
    first, _, rest = "\n".join(sections[""]).strip().partition("\n")
    described = "\n\n".join(part for part in (first, rest.strip()) if part)
    lines = next((sections[name] for name in _ARGUMENTS if name in sections), [])
    returned = inspect.cleandoc("\n".join(sections.get("Returns", []))).strip()
    kind, colon, after = returned.partition(":")
    return Docstring(described, _arguments(lines), (after.strip() if colon else kind) or None)


def _arguments(lines: list[str]) -> dict[str, str]:
    """Read ``name (type): text`` entries; deeper lines go on with the entry before."""
    body = inspect.cleandoc("\n".join(lines)).splitlines()
    entries: dict[str, list[str]] = {}
    for line in body:
        entry = re.match(r"^(\w+)\s*(?:\([^)]*\))?:\s*(.*)$", line)
        if entry:
            entries[entry.group(1)] = [entry.group(2)]
        elif entries:
            entries[next(reversed(entries))].append(line)
    return {name: f"{text[0]}\n{inspect.cleandoc(chr(10).join(text[1:]))}".strip() for name, text in entries.items()}
