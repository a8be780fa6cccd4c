"""Values that a tool documents for an argument, of which the user names one and a gold call gives another."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.sibling_records import is_denied, mentions
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.taxonomy.task import AgentTask

_QUOTED = re.compile(r"['\"]([^'\"]{3,40})['\"]")
_EITHER = re.compile(r"\b(?:or|either|one of)\b")


class OtherValue(NamedTuple):
    """A documented value that the user names and no gold call gives."""

    at: str
    """JSON Pointer of the text."""
    sentence: str
    named: str
    given_at: str
    """JSON Pointer of the argument of the gold call."""
    given: str


def documented(task: AgentTask) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the gold arguments that are one of the documented values: where, name, value and all values."""
    for at, call in task.gold_calls() if task.user.kind == "simulated" else ():
        tool = task.tool(call.name, call.requestor)
        if tool is None or tool.effect == "read":
            continue
        members = tool.parameters.get("properties", {})
        for name, value in call.arguments.items():
            values = _values(members.get(name) if isinstance(members, dict) else None)
            if isinstance(value, str) and value in values:
                yield f"{at}/arguments/{name}", name, value, values


def _values(schema: Any) -> list[str]:
    if not isinstance(schema, dict):
        return []
    if isinstance(schema.get("enum"), list):
        return [value for value in schema["enum"] if isinstance(value, str)]
    description = str(schema.get("description", ""))
    quoted = _QUOTED.findall(description)
    return quoted if len(quoted) > 1 and _EITHER.search(description) else []


def other_values(task: AgentTask, texts: list[tuple[str, str]]) -> Iterator[OtherValue]:
    """Yield documented values that the user names where the gold gives another one, which no text names.

    Args:
        task: the task.
        texts: what the user says, each text with its JSON Pointer.
    """
    used = {value for _, call in task.gold_calls() for value in call.arguments.values() if isinstance(value, str)}
    for given_at, name, given, values in documented(task):
        if any(mentions(text, given, name, values) for _, text in texts):
            continue
        for value in (value for value in values if value not in used):
            for at, text in texts:
                starts = [start for start, _ in mentions(text, value, name) if not is_denied(text, start)]
                if starts and not any(value in other and value != other for other in values):
                    yield OtherValue(at, sentence_at(text, starts[0]), value, given_at, given)
                    return
