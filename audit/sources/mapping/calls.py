"""Expected calls, in any of the usual shapes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from agenthard.audit.sources.formats.accepted_values import answer_calls
from agenthard.audit.sources.formats.calls import parse_call_list
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.texts import structured
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolCall, ToolSpec

ARGUMENT_KEYS = ("arguments", "kwargs", "args", "parameters", "input", "params", "action_input")
"""Keys under which formats keep the arguments of a call."""
NAME_KEYS = ("name", "tool", "tool_name", "function_name", "api_name", "action")
"""Keys under which formats keep the name of the tool."""

CallTurns = tuple[tuple[ToolCall, ...], ...]


def read_calls(value: Any, pointer: str, tools: Sequence[ToolSpec], *, per_turn: bool | None, lists: bool) -> CallTurns:
    """Read the calls of a task, per turn.

    Args:
        value: ``[{name, arguments}]``, ``[{function: {...}}]`` as in chat completions or by name, one object of calls
            by name, Python calls as text, any of these per turn; perhaps as JSON text.
        pointer: where it stands, for messages.
        tools: tools of the task, whose parameters name positional arguments.
        per_turn: whether the outer list is one of turns; None: when all its elements are lists.
        lists: whether each argument is a list of accepted values.

    Raises:
        MalformedRecordError: when something is no call.
    """
    value = structured(value)
    if value is None or value in ("", "None"):
        return ((),)
    nested = isinstance(value, list) and bool(value) and all(isinstance(item, list) for item in value)
    if per_turn or (per_turn is None and nested):
        turns = value if isinstance(value, list) else [value]
        return tuple(_turn(turn, join(pointer, i), tools, lists) for i, turn in enumerate(turns))
    return (_turn(value, pointer, tools, lists),)


def _turn(value: Any, pointer: str, tools: Sequence[ToolSpec], lists: bool) -> tuple[ToolCall, ...]:
    calls = tuple(_calls(structured(value), pointer, tools))
    return _with_accepted(calls, pointer, tools) if lists else calls


def _calls(value: Any, pointer: str, tools: Sequence[ToolSpec]) -> Iterable[ToolCall]:
    if value is None:
        return
    if isinstance(value, str):
        yield from _written(value, pointer, tools)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _calls(structured(item), join(pointer, index), tools)
    elif isinstance(value, Mapping):
        yield from _object(value, pointer, [tool.name for tool in tools])
    else:
        raise MalformedRecordError(f"expected calls, found {type(value).__name__}", pointer)


def _written(text: str, pointer: str, tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    parameters = {tool.name: list(tool.parameters.get("properties", {})) for tool in tools}
    calls = parse_call_list(text.strip(), parameters)
    if not calls and "(" not in text:
        raise MalformedRecordError(f"expected a call, found the text {text[:60]!r}", pointer)
    one = calls and len(calls) == 1
    return (calls[0].model_copy(update={"text": text}),) if one else calls or (ToolCall(name="", text=text),)


def _object(value: Mapping[str, Any], pointer: str, tools: Sequence[str]) -> Iterable[ToolCall]:
    if isinstance(value.get("tool_calls"), list):
        for index, call in enumerate(value["tool_calls"]):
            yield from _object(call, join(pointer, "tool_calls", index), tools)
        return
    inner = value["function"] if isinstance(value.get("function"), Mapping) else value
    key = next((key for key in NAME_KEYS if isinstance(inner.get(key), str)), None)
    if key is None and isinstance(value.get("function"), str):
        key = "function"
    if key is not None:
        yield _named(inner[key], inner, value, pointer)
    else:
        for name, arguments in value.items():
            yield ToolCall(name=_unnumbered(name, tools), arguments=_arguments(arguments, join(pointer, name)))


def _unnumbered(name: str, tools: Sequence[str]) -> str:
    """Take the number off a repeated call: the keys of an object cannot repeat, so these are written f_1, f_2."""
    stem, _, number = name.rpartition("_")
    return stem if number.isdigit() and name not in tools and stem in tools else name


def _named(name: str, inner: Mapping[str, Any], outer: Mapping[str, Any], pointer: str) -> ToolCall:
    key = next((key for key in ARGUMENT_KEYS if key in inner and inner[key] is not name), None)
    arguments = _arguments(inner[key], join(pointer, key)) if key else {}
    identity = next((outer[key] for key in ("id", "action_id") if isinstance(outer.get(key), (str, int))), None)
    requestor: Literal["assistant", "user"] = "user" if outer.get("requestor") == "user" else "assistant"
    return ToolCall(name=name, arguments=arguments, requestor=requestor, id=None if identity is None else str(identity))


def _arguments(value: Any, pointer: str) -> dict[str, Any]:
    value = {} if value is None or value == "" or value == [] else structured(value)
    if not isinstance(value, Mapping):
        raise MalformedRecordError(
            f"expected the arguments of a call as an object, found {type(value).__name__}", pointer
        )
    return dict(value)


def _with_accepted(calls: Sequence[ToolCall], pointer: str, tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    try:
        read, _ = answer_calls([{call.name: call.arguments} for call in calls], tools, one_function=False)
    except MalformedRecordError as error:
        raise MalformedRecordError(f"accepted values are lists: {str(error).split(' at ')[0]}", pointer) from error
    return tuple(
        call.model_copy(update={"arguments": found.arguments}) for call, found in zip(calls, read, strict=True)
    )
