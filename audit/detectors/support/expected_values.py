"""The values that a run is scored on and that somebody could give away: long or odd enough to be recognised."""

import re
from collections.abc import Iterator
from typing import Any

from agenthard.taxonomy.accepted import is_optional
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_SHORTEST_TEXT = 4
_SHORTEST_NUMBER = 3
_MOST = 500
_LONG = 1_000

Expected = tuple[str, str]
"""JSON Pointer of an expected value, and the value as text."""


def expected_values(task: AgentTask) -> Iterator[Expected]:
    """Yield the arguments of the gold calls, the required texts and the accepted answers.

    Left out are what may be left out of a call, truth values, texts of fewer than four characters and numbers of fewer
    than three digits, which stand everywhere, and milestones, which are no calls to be made.
    """
    truth = task.ground_truth
    for group in ("outputs", "answers"):
        for i, text in enumerate(getattr(truth, group)):
            if is_telling(text):
                yield f"/ground_truth/{group}/{i}", text
    if truth.semantics == "milestones":
        return
    for pointer, call in task.gold_calls():
        if call.requestor == "assistant":
            yield from argument_values(pointer, call)


def argument_values(pointer: str, call: ToolCall) -> Iterator[Expected]:
    """Yield the telling values, at any depth, of the arguments that may not be left out of the call at ``pointer``."""
    for name, value in call.arguments.items():
        if not is_optional(value):
            yield from _leaves(join(f"{pointer}/arguments", name), value)


def _leaves(pointer: str, value: Any) -> Iterator[Expected]:
    stack, count = [(pointer, value)], 0
    while stack and count < _MOST:
        at, item = stack.pop()
        count += 1
        if isinstance(item, dict):
            stack += [(join(at, key), child) for key, child in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(join(at, i), child) for i, child in reversed(list(enumerate(item)))]
        elif is_telling(item):
            yield at, str(item)


def is_telling(value: Any) -> bool:
    """Tell whether a value is a text or a number long enough to be recognised where it stands.

    >>> is_telling("B-18"), is_telling("yes"), is_telling(144), is_telling(7), is_telling(True)
    (True, False, True, False, False)
    """
    if isinstance(value, str):
        return len(value.strip()) >= _SHORTEST_TEXT
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and sum(ch.isdigit() for ch in str(value)) >= _SHORTEST_NUMBER


def choices(tool: ToolSpec | None) -> frozenset[str]:
    """Return the documented choices and defaults of a tool's parameters, in lower case."""
    properties = tool.parameters.get("properties") if tool else None
    schemas = [each for each in properties.values() if isinstance(each, dict)] if isinstance(properties, dict) else []
    listed = [each for schema in schemas if isinstance(schema.get("enum"), list) for each in schema["enum"]]
    return frozenset(str(each).casefold() for each in (*listed, *(schema.get("default") for schema in schemas)))


def stands_alone(value: str, text: str) -> re.Match[str] | None:
    """Find a value in a text as a word of its own, without regard to case; a very long one only where it first is."""
    folded = text.casefold()
    at = folded.find(value.casefold())
    if at < 0:
        return None
    if len(value) > _LONG and len(folded) == len(text):
        # Searching a long pattern at every place of a repetitive text takes the product of their lengths.
        return re.compile(rf"(?<![\w.-])(?s:.{{{len(value)}}})(?![\w-]|\.\w)").match(text, at)
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)", text, re.IGNORECASE)
