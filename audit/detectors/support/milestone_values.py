"""Values of milestones, and of the user, that the expected state has otherwise."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.task import AgentTask

_SHORTEST = 4
_READS = re.compile(r"(?:get|view|search|list|check|find|query|show)(?:_|$)")
_QUOTED = re.compile(
    r"(?:content|message|text|saying|reply\w*|with)\b[^\"'“]{0,25}[\"“]([^\"”()]{8,200}?)[\"”]?(?=\W*$|[\"”])"
)


class Missed(NamedTuple):
    """A value that the expected state has otherwise."""

    at: str
    """JSON Pointer of the text or argument."""
    value: str
    text: str
    """What the text says, for a quote; empty for an argument."""


def missed_arguments(task: AgentTask, expected: Any) -> Iterator[Missed]:
    """Yield the texts that a milestone gives for a field of the expected state in which no record has it.

    Args:
        task: the task, whose ground truth is a list of milestones.
        expected: the expected state.
    """
    for at, call in task.gold_calls():
        tool = task.tool(call.name, call.requestor)
        if _READS.match(call.name) or (tool is not None and tool.effect == "read"):
            continue
        for name, value in call.arguments.items():
            if isinstance(value, str) and len(value) >= _SHORTEST:
                stored = {squash(text) for text in _fields(expected, name)}
                if stored and squash(value) not in stored:
                    yield Missed(f"{at}/arguments/{name}", value, "")


def missed_quotes(task: AgentTask, expected: Any) -> Iterator[Missed]:
    """Yield what the user dictates in quotation marks, and neither a milestone nor the expected state has.

    Args:
        task: the task, whose ground truth is a list of milestones.
        expected: the expected state.
    """
    known = squash(f"{[call.arguments for _, call in task.gold_calls()]}{expected}")
    for at, text in task.user_texts():
        for match in _QUOTED.finditer(text):
            if squash(match[1]) not in known:
                yield Missed(at, match[1], match[1])


def _fields(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == name and isinstance(item, str):
                yield item
            else:
                yield from _fields(item, name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _fields(item, name)
