"""What a value looks like: the shapes by which columns are recognised, whatever they are called."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from agenthard.audit.sources.formats.calls import parse_call_list
from agenthard.audit.sources.mapping.calls import ARGUMENT_KEYS, NAME_KEYS
from agenthard.audit.sources.mapping.texts import structured
from agenthard.audit.sources.mapping.tools import SCHEMA_KEYS

_OBJECT_TYPES = ("object", "dict")
_CALL_TEXT = re.compile(r"\s*\[?\s*[A-Za-z_][\w.]*\s*\(")
_SPEAKER = ("role", "from", "speaker")
_SAID = ("content", "value", "text", "tool_calls", "function_call")


def is_tools(value: Any) -> bool:
    """Tell whether a value documents tools: objects with a name and a schema, or an object of schemas by name."""
    value = structured(value)
    if isinstance(value, Mapping) and not _is_tool(value):
        return bool(value) and all(isinstance(doc, Mapping) and _has_schema(doc) for doc in value.values())
    listed = [value] if isinstance(value, Mapping) else value
    return isinstance(listed, list) and bool(listed) and all(_is_tool(structured(doc)) for doc in listed)


def _is_tool(doc: Any) -> bool:
    if not isinstance(doc, Mapping):
        return False
    inner = doc["function"] if isinstance(doc.get("function"), Mapping) else doc
    return isinstance(inner.get("name"), str) and _has_schema(inner)


def _has_schema(doc: Mapping[str, Any]) -> bool:
    schema = structured(next((doc[key] for key in SCHEMA_KEYS if key in doc), None))
    if not isinstance(schema, Mapping):
        return False
    if "properties" in schema or schema.get("type") in _OBJECT_TYPES:
        return True
    inner = list(schema.values())
    if not inner:
        return isinstance(doc.get("description"), str)
    return all(isinstance(item, Mapping) and ("type" in item or "description" in item) for item in inner)


def is_calls(value: Any, tools: Collection[str]) -> bool:
    """Tell whether a value is one call or several: by name and arguments, by the name of a tool, or as Python text.

    In a list more than half must be calls: a broken one among them is a flaw of the benchmark.

    Args:
        value: the value.
        tools: names of the tools of its row; an object of arguments by name is a call only when it names one of them.
    """
    value = structured(value)
    if isinstance(value, str):
        return bool(_CALL_TEXT.match(value)) and bool(parse_call_list(value, {}))
    if isinstance(value, list):
        items = [item for item in value if item != []]
        return bool(items) and sum(is_calls(item, tools) for item in items) > len(items) / 2
    return isinstance(value, Mapping) and _is_call(value, tools)


def _is_call(value: Mapping[str, Any], tools: Collection[str]) -> bool:
    if isinstance(value.get("tool_calls"), list):
        return is_calls(value["tool_calls"], tools)
    inner = value["function"] if isinstance(value.get("function"), Mapping) else value
    named = any(isinstance(inner.get(key), str) for key in (*NAME_KEYS, "function"))
    given = next((structured(inner[key]) for key in ARGUMENT_KEYS if key in inner), None)
    if named and isinstance(given, Mapping) and not _is_tool(value):
        return True
    known = [name in tools or name.rsplit("_", 1)[0] in tools for name in value]
    return bool(known) and all(known) and all(isinstance(item, Mapping) for item in value.values())


def is_messages(value: Any) -> bool:
    """Tell whether a value is a message, a list of messages, or a list of such lists."""
    value = structured(value)
    if isinstance(value, list):
        items = [item for item in value if item != []]
        return (
            bool(items)
            and all(is_messages(item) for item in items if not isinstance(item, str))
            and (not isinstance(items[0], str))
        )
    return isinstance(value, Mapping) and any(k in value for k in _SPEAKER) and any(k in value for k in _SAID)


def is_prose(value: Any) -> bool:
    """Tell whether a value is a text of at least three words, and no structure written as text."""
    return isinstance(value, str) and len(value.split()) >= 3 and isinstance(structured(value), str)


def is_texts(value: Any) -> bool:
    """Tell whether a value is a list of texts."""
    value = structured(value)
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def is_scalar(value: Any) -> bool:
    """Tell whether a value is a text, a number or a truth value."""
    return isinstance(value, (str, int, float, bool))


def is_answer(value: Any) -> bool:
    """Tell whether a value can be a final answer: a text, number or truth value, or a list of them."""
    value = structured(value)
    if isinstance(value, list):
        return bool(value) and all(is_scalar(item) for item in value)
    return is_scalar(value) and value != ""


def is_choices(value: Any) -> bool:
    """Tell whether a value is a list of at least two choices, or an object of choices by a letter."""
    value = structured(value)
    if isinstance(value, Mapping):
        lettered = len(value) >= 2 and all(len(str(key)) == 1 and is_scalar(item) for key, item in value.items())
        return lettered or (isinstance(value.get("text"), list) and isinstance(value.get("label"), list))
    return isinstance(value, list) and len(value) >= 2 and all(is_scalar(item) for item in value)


def is_object(value: Any) -> bool:
    """Tell whether a value is an object."""
    return isinstance(structured(value), Mapping)


def holds_accepted_values(value: Any) -> bool:
    """Tell whether every argument of the calls is a list: of the accepted values, as it seems."""
    value = structured(value)
    calls = value if isinstance(value, list) else [value]
    arguments = [
        argument
        for call in calls
        if isinstance(call, Mapping)
        for given in call.values()
        if isinstance(given, Mapping)
        for argument in given.values()
    ]
    return bool(arguments) and all(isinstance(argument, list) for argument in arguments)
