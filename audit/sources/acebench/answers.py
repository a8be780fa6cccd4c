"""Answers of ACEBench: the calls, the texts or the milestones that the evaluator compares with."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agenthard.audit.sources.formats.calls import parse_call_list
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect
from agenthard.taxonomy.accepted import any_of
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolCall

_REPEATED = re.compile(r"(.+)_\d+")
_POINTER = "/ground_truth"


def answer_calls(ground_truth: Any, tools: Sequence[str]) -> tuple[tuple[ToolCall, ...], list[Any]]:
    """Read the answer of a normal task: ``{function: {parameter: value}}``, or a list of such alternatives.

    Alternatives that differ in the value of one argument only are one answer that accepts each of these values.

    Args:
        ground_truth: the answer; ``function_1`` and ``function_2`` are repeated calls of one function.
        tools: names of the tools of the task.

    Returns:
        The calls, and the alternatives that they do not cover, as written.

    Raises:
        MalformedRecordError: when the answer has another shape.
    """
    if isinstance(ground_truth, list):
        read = [_calls(item, tools, join(_POINTER, index)) for index, item in enumerate(ground_truth)]
        if not read:
            raise MalformedRecordError("the list of alternative answers is empty", _POINTER)
        merged = _merged(read)
        return (merged, []) if merged is not None else (read[0], ground_truth[1:])
    return _calls(ground_truth, tools, _POINTER), []


def _calls(answer: Any, tools: Sequence[str], pointer: str) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(name=_function(name, tools), arguments=expect(arguments, dict, join(pointer, name)))
        for name, arguments in expect(answer, dict, pointer).items()
    )


def _function(written: str, tools: Sequence[str]) -> str:
    """Remove the number from a repeated call; a tool whose own name ends in a number keeps it."""
    found = _REPEATED.fullmatch(written)
    return found[1] if found and written not in tools and found[1] in tools else written


def _merged(alternatives: Sequence[tuple[ToolCall, ...]]) -> tuple[ToolCall, ...] | None:
    first, *others = alternatives
    places = set()
    for other in others:
        if [(call.name, set(call.arguments)) for call in other] != [(c.name, set(c.arguments)) for c in first]:
            return None
        places |= {
            (index, name)
            for index, call in enumerate(other)
            for name, value in call.arguments.items()
            if value != first[index].arguments[name]
        }
    if len(places) != 1:
        return None if places else first
    [(index, name)] = places
    values: list[Any] = []
    for alternative in alternatives:
        value = alternative[index].arguments[name]
        values += [] if value in values else [value]
    changed = first[index].model_copy(update={"arguments": {**first[index].arguments, name: any_of(values)}})
    return (*first[:index], changed, *first[index + 1 :])


def required_texts(ground_truth: Any) -> list[tuple[str, str]]:
    """Read the answer of an incomplete or an error_param task: ``{name: [text, ...]}``.

    Returns:
        Each text that the agent has to name, without blanks around it, and its place in the answer's line.

    Raises:
        MalformedRecordError: when the answer has another shape.
    """
    answer: Mapping[str, Any] = expect(ground_truth, dict, _POINTER)
    texts = [
        (expect(text, str, join(_POINTER, name, index)).strip(), join(_POINTER, name, index))
        for name, listed in answer.items()
        for index, text in enumerate(expect(listed, list, join(_POINTER, name)))
    ]
    if not texts:
        raise MalformedRecordError("the answer names nothing", _POINTER)
    return texts


def milestones(listed: Any, parameters: Mapping[str, Sequence[str]]) -> tuple[tuple[ToolCall, ...], list[Any]]:
    """Read the ``mile_stone`` field of an agent task: call strings, or a list of alternative lists of them.

    A string that cannot be read as calls becomes a call without a name that keeps its text.

    Args:
        listed: the field.
        parameters: parameter names in documented order, by tool name.

    Returns:
        The calls of the first list, and the other lists as written.

    Raises:
        MalformedRecordError: when the field has another shape.
    """
    given = expect(listed, list, "/mile_stone")
    several = bool(given) and all(isinstance(item, list) for item in given)
    chosen, others = (given[0], given[1:]) if several else (given, [])
    calls: list[ToolCall] = []
    for index, text in enumerate(chosen):
        written = expect(text, str, join("/mile_stone", *([0] if several else []), index))
        calls += parse_call_list(written.strip(), parameters) or [ToolCall(name="", text=written)]
    return tuple(calls), others
