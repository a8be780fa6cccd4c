"""The documentation of the place that a gold value fills."""

import re
from dataclasses import dataclass
from typing import Any

from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import ToolSpec

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Documented:
    """What a tool says about one place of its arguments."""

    schema: dict[str, Any]
    """The schema of the place."""
    optional: bool
    """Whether the place, or an object around it, may be left out."""


def documented(tool: ToolSpec, at: str) -> Documented | None:
    """Look up the place ``at`` of the arguments, with or without any-of nodes; None when it is not documented."""
    schema: Any = tool.parameters
    optional = choice = False
    for part in split(at):
        if part == ANY_OF or choice:
            choice = part == ANY_OF
            continue
        if not isinstance(schema, dict):
            return None
        if part.isdigit() and schema.get("type") == "array":
            schema = schema.get("items")
        else:
            optional = optional or part not in (schema.get("required") or ())
            schema = (schema.get("properties") or {}).get(part)
    return Documented(schema, optional) if isinstance(schema, dict) else None


def name_words(name: str) -> list[str]:
    """Split an identifier into its words, in lower case.

    >>> name_words("includeAge_groups"), name_words("HTTPCode2")
    (['include', 'age', 'groups'], ['http', 'code', '2'])
    """
    return [word.lower() for word in _WORD.findall(name)]
