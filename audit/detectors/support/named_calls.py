"""Calls as tools carry them out: one whose arguments are the name and arguments of another is that one."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.taxonomy.task import AgentTask

_TOOL = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+){1,9}")
_IDENTIFIER = re.compile(r"(?=.*\d)[\w#.-]{5,40}")
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Made(NamedTuple):
    """One call of the ground truth."""

    at: str
    """JSON Pointer of the call."""
    name: str
    """Name of the tool that carries it out."""
    requestor: str
    arguments: dict[str, Any]
    """What this tool is given."""
    reads: bool
    """Whether the tool is documented to change nothing; a tool named in an argument is not documented."""

    def identifiers(self) -> dict[str, str]:
        """Return the arguments that name something, by parameter."""
        return {
            name: value
            for name, value in self.arguments.items()
            if isinstance(value, str) and _IDENTIFIER.fullmatch(value) and not _PLAIN_NUMBER.fullmatch(value)
        }

    def numbers(self) -> dict[str, float]:
        """Return the arguments that are numbers, by parameter."""
        return {
            name: float(value)
            for name, value in self.arguments.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }


def made_calls(task: AgentTask) -> Iterator[Made]:
    """Yield the gold calls; what a call only unlocks or offers is not made."""
    for at, call in task.gold_calls():
        named = [value for value in call.arguments.values() if isinstance(value, str) and _TOOL.fullmatch(value)]
        inner = [found for value in call.arguments.values() if (found := _arguments(value)) is not None]
        tool = task.tool(call.name, call.requestor)
        if named and len(inner) == 1:
            yield Made(at, named[0], call.requestor, inner[0], False)
        else:
            yield Made(at, call.name, call.requestor, call.arguments, tool is not None and tool.effect == "read")


def _arguments(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, str) or not value.startswith("{"):
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
