"""The columns of a set of rows, including those inside objects and JSON text, and what kind of values they hold."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.call_text import read_call_text
from agenthard.audit.sources.mapping.calls import ARGUMENT_KEYS, NAME_KEYS, is_pair, read_pairs
from agenthard.audit.sources.mapping.conversation import (
    SPEAKER_KEYS,
    TEXT_KEYS,
    is_dialogue,
    said_calls,
    speaker_of,
    speaker_role,
)
from agenthard.audit.sources.mapping.data import ABOUT_FILE
from agenthard.audit.sources.mapping.paths import structured
from agenthard.audit.sources.mapping.tool_code import is_openapi, is_python, python_tools
from agenthard.audit.sources.mapping.tools import SCHEMA_KEYS, TOOL_NAMES
from agenthard.taxonomy.record import Origin

MAX_DEPTH = 3
"""Objects below this depth are not searched."""
_STABLE = 0.5
"""A key that fewer of the objects have is data, not a column."""
_MOSTLY = 0.8
"""Share of the values that must be texts for numbered columns to be put together."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NUMBERED = re.compile(r"([A-Za-z_]*?[A-Za-z])_?(\d+)")


@dataclass(frozen=True)
class Column:
    """One column with its values."""

    path: str
    """Path as a mapping writes it."""
    keys: tuple[str, ...]
    """Keys that lead to it."""
    values: tuple[Any, ...]
    """Its values row by row, None where it is absent."""

    @property
    def present(self) -> list[Any]:
        """The values that are not empty."""
        return [value for value in self.values if value not in (None, "", [], {})]

    @property
    def share(self) -> float:
        """Share of the rows that have something there."""
        return len(self.present) / len(self.values) if self.values else 0.0

    def overlaps(self, other: "Column") -> bool:
        """Tell whether one column lies inside the other."""
        length = min(len(self.keys), len(other.keys))
        return self.keys[:length] == other.keys[:length]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Column], list[str]]:
    """List the columns of some rows.

    Returns:
        The columns, outer ones before those inside them; and the names of top-level columns that hold objects as text.
    """
    found: list[Column] = []
    texts: list[str] = []
    _collect(list(rows), (), found, texts)
    return [*found, *_numbered(found)], texts


def _collect(objects: Sequence[Any], above: tuple[str, ...], found: list[Column], texts: list[str]) -> None:
    names: dict[str, int] = {}
    for item in objects:
        for key in item if isinstance(item, Mapping) else ():
            names[key] = names.get(key, 0) + 1
    there = sum(isinstance(item, Mapping) for item in objects)
    for name, count in names.items():
        if name in ABOUT_FILE or (above and count < _STABLE * there):
            continue
        keys = (*above, name)
        values = tuple(item.get(name) if isinstance(item, Mapping) else None for item in objects)
        column = Column(".".join(map(step, keys)), keys, values)
        found.append(column)
        inner = [structured(value) for value in values]
        shown = [value for value in column.present if not isinstance(structured(value), Mapping)]
        if len(keys) > MAX_DEPTH or shown or not column.present or _whole(column.present):
            continue
        if not above and any(isinstance(value, str) for value in column.present):
            texts.append(name)
        elif any(isinstance(value, str) for value in column.present):
            continue
        _collect(inner, keys, found, texts)


def _whole(values: Sequence[Any]) -> bool:
    """Tell whether objects are one thing each, not rows within rows."""
    return all(is_messages(value) or is_tools(value) for value in values)


def step(key: str) -> str:
    """Write one step of a path."""
    return key if _IDENTIFIER.fullmatch(key) else json.dumps(key)


def _numbered(columns: Sequence[Column]) -> list[Column]:
    """Put numbered columns of text together (step1, step2, ...), as one column of lists."""
    series: dict[str, list[tuple[int, Column]]] = {}
    for column in columns:
        found = _NUMBERED.fullmatch(column.keys[0]) if len(column.keys) == 1 else None
        prose = sum(map(is_prose, column.present))
        if found and prose and prose >= _MOSTLY * len(column.present):
            series.setdefault(found[1], []).append((int(found[2]), column))
    together = []
    for stem, members in sorted(series.items()):
        if len(members) < 2:
            continue
        ordered = [column for _, column in sorted(members, key=lambda item: item[0])]
        values = tuple(
            [value for value in row if value] or None for row in zip(*(c.values for c in ordered), strict=True)
        )
        path = f"[{', '.join(column.path for column in ordered)}]"
        together.append(Column(path, (f"{stem}#",), values))
    return together


_OBJECT_TYPES = ("object", "dict")
_SAID = (*TEXT_KEYS, "tool_calls", "function_call")


def is_tools(value: Any) -> bool:
    """Tell whether a value documents tools: objects with a name and a schema, or an object of schemas by name."""
    value = structured(value)
    if is_python(value):
        return _is_documented(value)
    if is_openapi(value):
        return True
    if isinstance(value, Mapping) and not _is_tool(value):
        return bool(value) and all(isinstance(doc, Mapping) and _has_schema(doc) for doc in value.values())
    listed = [value] if isinstance(value, Mapping) else value
    return isinstance(listed, list) and bool(listed) and all(_is_tool(structured(doc)) for doc in listed)


def _is_documented(source: str) -> bool:
    """Tell whether every public function of Python source has a description, as tools do and scripts do not."""
    try:
        tools = python_tools(source, Origin(file=""))
    except MalformedRecordError:
        return False
    return bool(tools) and all(tool.description for tool in tools)


def _is_tool(doc: Any) -> bool:
    if not isinstance(doc, Mapping):
        return False
    inner = doc["function"] if isinstance(doc.get("function"), Mapping) else doc
    return any(isinstance(inner.get(key), str) for key in TOOL_NAMES) and _has_schema(inner)


def _has_schema(doc: Mapping[str, Any]) -> bool:
    schema = structured(next((doc[key] for key in SCHEMA_KEYS if key in doc), None))
    if isinstance(schema, list) and schema and isinstance(doc.get("description"), str):
        return all(isinstance(item, Mapping) and "name" in item and "type" in item for item in schema)
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
        written = read_call_text(value, {name: () for name in tools})
        lines = [structured(line) for line in value.splitlines() if line.strip()]
        objects = bool(lines) and all(isinstance(line, Mapping) and _is_call(line, tools) for line in lines)
        return objects or sum(bool(call.name) for call in written) > len(written) / 2
    if is_pair(value):
        return value[0] in tools
    if is_dialogue(value):
        users = any(speaker_role(speaker_of(item)) == "user" for item in value)
        return not users and any(map(said_calls, value))
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
    pairs = isinstance(given, list) and read_pairs(given) is not None
    if named and (isinstance(given, Mapping) or pairs) and not _is_tool(value):
        return True
    if any(isinstance(inner.get(key), str) and inner[key] in tools for key in NAME_KEYS):
        return given is not None or not any(isinstance(item, (list, Mapping)) for item in inner.values())
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
    return isinstance(value, Mapping) and any(k in value for k in SPEAKER_KEYS) and any(k in value for k in _SAID)


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
