"""Expected calls and accepted final answers, in any of the usual shapes."""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Literal

from agenthard.audit.sources.formats.accepted_values import answer_calls
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.call_text import read_call_text
from agenthard.audit.sources.mapping.conversation import calls_by_turn, is_dialogue
from agenthard.audit.sources.mapping.paths import as_text, structured, text_list
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolCall, ToolSpec

ARGUMENT_KEYS = ("arguments", "kwargs", "args", "parameters", "input", "params", "action_input", "inputs", "with")
"""Keys under which formats keep the arguments of a call."""
NAME_KEYS = ("name", "tool", "tool_name", "function_name", "api_name", "action", "fn", "func", "api", "method")
"""Keys under which formats keep the name of the tool."""

ABOUT_CALL = (
    *NAME_KEYS, "function", "id", "action_id", "type", "requestor", "order", "step", "turn", "index", "thought",
    "result", "output", "comment", "note", "info", "compare_args",
)  # fmt: skip
"""Keys of a call that do not name arguments, where the arguments are next to the name."""
PAIR_NAMES = ("name", "key", "param", "parameter", "argument", "arg", "field", "k")
"""Keys under which formats keep the name of one argument in a list of arguments."""
PAIR_VALUES = ("value", "val", "v")
"""Keys under which formats keep its value."""

CallTurns = tuple[tuple[ToolCall, ...], ...]


def read_calls(value: Any, pointer: str, tools: Sequence[ToolSpec], *, per_turn: bool | None, lists: bool) -> CallTurns:
    """Read the calls of a task, per turn.

    Args:
        value: ``[{name, arguments}]``, ``[{function: {...}}]`` as in chat completions or by name, one object of calls
            by name, Python calls as text, any of these per turn; a dialogue, in whose messages the agent makes calls;
            perhaps as JSON text.
        pointer: where it is, for messages.
        tools: tools of the task, whose parameters name positional arguments.
        per_turn: whether the outer list is one of turns, and whether in a dialogue each message of the user begins
            one; None: when all elements are lists, and for a dialogue no.
        lists: whether each argument is a list of accepted values.

    Raises:
        MalformedRecordError: when something is not a call.
    """
    value = structured(value)
    if value is None or value in ("", "None"):
        return ((),)
    if is_dialogue(value):
        by_turn = calls_by_turn(value)
        calls = by_turn if per_turn else [[call for made in by_turn for call in made]]
        return tuple(_turn(made, pointer, tools, lists) for made in calls)
    nested = isinstance(value, list) and bool(value) and all(isinstance(item, list) for item in value)
    nested = nested and not all(is_pair(item) for item in value)
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
    elif is_pair(value):
        yield ToolCall(name=value[0], arguments=_arguments(value[1], join(pointer, 1)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _calls(structured(item), join(pointer, index), tools)
    elif isinstance(value, Mapping):
        yield from _object(value, pointer, tools)
    else:
        raise MalformedRecordError(f"expected calls, found {type(value).__name__}", pointer)


def _written(text: str, pointer: str, tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    calls = read_call_text(text, _parameters(tools))
    if calls:
        return calls
    lines = [structured(line) for line in text.splitlines() if line.strip()]
    if lines and all(isinstance(line, Mapping) for line in lines):
        return tuple(call for line in lines for call in _object(line, pointer, tools))
    if text.strip() in {tool.name for tool in tools}:
        return (ToolCall(name=text.strip(), text=text),)
    if "(" not in text:
        raise MalformedRecordError(f"expected a call, found the text {text[:60]!r}", pointer)
    return (ToolCall(name="", text=text),)


def _parameters(tools: Sequence[ToolSpec]) -> dict[str, list[str]]:
    return {tool.name: list(tool.parameters.get("properties", {})) for tool in tools}


def is_pair(value: Any) -> bool:
    """Tell whether a list is one call: the name of a tool and its arguments."""
    named = isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
    return named and "(" not in value[0] and isinstance(structured(value[1]), (Mapping, list))


def _object(value: Mapping[str, Any], pointer: str, tools: Sequence[ToolSpec]) -> Iterable[ToolCall]:
    if isinstance(value.get("tool_calls"), list):
        for index, call in enumerate(value["tool_calls"]):
            yield from _object(call, join(pointer, "tool_calls", index), tools)
        return
    inner = value["function"] if isinstance(value.get("function"), Mapping) else value
    key = next((key for key in NAME_KEYS if isinstance(inner.get(key), str)), None)
    if key is None and isinstance(value.get("function"), str):
        key = "function"
    if key is not None:
        yield _named(inner[key], inner, value, pointer, _parameters(tools).get(inner[key], ()))
    else:
        names = [tool.name for tool in tools]
        for name, arguments in value.items():
            yield ToolCall(name=_unnumbered(name, names), arguments=_arguments(arguments, join(pointer, name)))


def _unnumbered(name: str, tools: Sequence[str]) -> str:
    """Remove the number from a repeated call: the keys of an object cannot repeat, so these are written f_1, f_2."""
    stem, _, number = name.rpartition("_")
    return stem if number.isdigit() and name not in tools and stem in tools else name


def _named(
    name: str, inner: Mapping[str, Any], outer: Mapping[str, Any], pointer: str, parameters: Sequence[str]
) -> ToolCall:
    key = next((key for key in ARGUMENT_KEYS if key in inner and inner[key] is not name), None)
    if key is None or (key in parameters and not isinstance(structured(inner[key]), (Mapping, list))):
        arguments = {
            key: item
            for key, item in inner.items()
            if item is not name and (key in parameters or key not in ABOUT_CALL)
        }
    else:
        arguments = _arguments(inner[key], join(pointer, key))
    identity = next((outer[key] for key in ("id", "action_id") if isinstance(outer.get(key), (str, int))), None)
    requestor: Literal["assistant", "user"] = "user" if outer.get("requestor") == "user" else "assistant"
    return ToolCall(name=name, arguments=arguments, requestor=requestor, id=None if identity is None else str(identity))


def _arguments(value: Any, pointer: str) -> dict[str, Any]:
    value = {} if value is None or value == "" or value == [] else structured(value)
    if isinstance(value, list) and (pairs := read_pairs(value)) is not None:
        return pairs
    if not isinstance(value, Mapping):
        raise MalformedRecordError(
            f"expected the arguments of a call as an object, found {type(value).__name__}", pointer
        )
    return dict(value)


def read_pairs(items: Sequence[Any]) -> dict[str, Any] | None:
    """Read arguments as a list of ``{name, value}`` or ``[name, value]``; None for any other list."""
    found: dict[str, Any] = {}
    for item in items:
        if isinstance(item, Mapping) and len(item) >= 2:
            name = next((item[key] for key in PAIR_NAMES if isinstance(item.get(key), str)), None)
            held = next((key for key in PAIR_VALUES if key in item), None)
            value = None if held is None else item[held]
        elif isinstance(item, list) and len(item) == 2:
            name, value, held = item[0], item[1], ""
        else:
            return None
        if not isinstance(name, str) or held is None or name in found:
            return None
        found[name] = value
    return found


def _with_accepted(calls: Sequence[ToolCall], pointer: str, tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    try:
        read, _ = answer_calls([{call.name: call.arguments} for call in calls], tools, one_function=False)
    except MalformedRecordError as error:
        raise MalformedRecordError(f"accepted values are lists: {str(error).split(' at ')[0]}", pointer) from error
    return tuple(
        call.model_copy(update={"arguments": found.arguments}) for call, found in zip(calls, read, strict=True)
    )


def accepted_answers(given: Any, choices: Any, first: int) -> tuple[str, ...]:
    """Return the accepted answers of a task; an index or a letter of a choice is accepted with the choice's text.

    Args:
        given: an answer, or a list of accepted ones.
        choices: None, a list of choices, or an object of choices by label.
        first: number of the first choice, where answers are numbers.

    >>> [accepted_answers(given, ["Oslo", "Rome"], 0) for given in ("B", 1, "Oslo", "Bern")]
    [('B', 'Rome'), ('B', 'Rome'), ('Oslo',), ('Bern',)]
    """
    labelled = _labelled(choices)
    answers: list[str] = []
    for text in text_list(given):
        answers += _choice(text, labelled, first) or [text]
    return tuple(dict.fromkeys(answers))


def candidates(given: Any, choices: Any, first: int) -> dict[str, Any] | None:
    """State the choices of a task so that checks can look for traits that give the answer away.

    Returns:
        One choice, in the form that the check ``answer-leakage`` reads; None without choices or the answer
        is not exactly one of them.

    >>> candidates("B", ["Oslo", "Rome"], 0)["sets"][0]["truth"]
    'B'
    """
    labelled = _labelled(choices)
    texts = text_list(given)
    found = _choice(texts[0], labelled, first) if len(texts) == 1 else []
    truth = [label for label, text in labelled.items() if text == (found[-1] if found else None)]
    if len(truth) != 1:
        return None
    listed = [{"id": label, "text": text} for label, text in labelled.items()]
    return {"sets": [{"candidates": listed, "truth": truth[0]}]}


def _labelled(choices: Any) -> dict[str, str]:
    if isinstance(choices, Mapping):
        if isinstance(choices.get("text"), list) and isinstance(choices.get("label"), list):
            return {as_text(k): as_text(v) for k, v in zip(choices["label"], choices["text"], strict=False)}
        return {as_text(key): as_text(value) for key, value in choices.items()}
    if isinstance(choices, list):
        return {label: as_text(choice) for label, choice in zip(ascii_uppercase, choices, strict=False)}
    return {}


def _choice(text: str, labelled: Mapping[str, str], first: int) -> list[str]:
    if text in labelled.values():
        return [text]
    if text in labelled:
        return [text, labelled[text]]
    index = int(text) - first if text.isdigit() else -1
    label = list(labelled)[index] if 0 <= index < len(labelled) else None
    return [label, labelled[label]] if label is not None else []
