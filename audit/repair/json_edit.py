r"""Edits one value of a JSON text and leaves all other bytes unchanged.

A benchmark's file keeps its spacing, its order and its escapes, so that a maintainer sees the change and nothing else.
"""

import json
from typing import Any

from agenthard.audit.sources.formats.json_nodes import JsonNode
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import split


class EditError(AgentHardError):
    """The change cannot be made in this text; the message says why."""

    code = "AH204"
    remedy = "Nothing: the repair is listed as rejected with this reason. Change the benchmark file by hand."


def edit_json(text: str, operation: dict[str, Any]) -> str:
    r"""Apply one operation of a JSON Patch in a text.

    Args:
        text: one JSON document.
        operation: ``replace``, ``remove``, ``add`` to the end of a list or object, or ``move`` of a member to another
            name in the same object.

    Raises:
        EditError: when the pointer leads nowhere or the operation is not supported.

    >>> edit_json('{"a": [1,  "2"], "b":3}', {"op": "replace", "path": "/a/1", "value": 2})
    '{"a": [1,  2], "b":3}'
    >>> edit_json('{"a": [1,  "2"], "b":3}', {"op": "remove", "path": "/a/0"})
    '{"a": ["2"], "b":3}'
    >>> edit_json('{"a": [1,  "2"], "b":3}', {"op": "move", "from": "/b", "path": "/c"})
    '{"a": [1,  "2"], "c":3}'
    """
    kind, path = operation["op"], operation["path"]
    if kind == "move":
        return _rename(text, operation["from"], path)
    parent, _, token = path.rpartition("/")
    if kind == "add":
        return _append(text, parent, split(f"/{token}")[0], operation["value"])
    if path == "":
        if kind != "replace":
            raise EditError(f"cannot {kind} the whole document")
        return _dumps(operation["value"], text)
    siblings, item = _find(text, path)
    if kind == "replace":
        return text[: item.start] + _dumps(operation["value"], text) + text[item.end :]
    if kind == "remove":
        number = siblings.index(item)
        if number + 1 < len(siblings):
            return text[: item.begin] + text[siblings[number + 1].begin :]
        return text[: siblings[number - 1].end if number else item.begin] + text[item.end :]
    raise EditError(f"cannot {kind} a value in a text")


def _rename(text: str, source: str, target: str) -> str:
    if source.rpartition("/")[0] != target.rpartition("/")[0]:
        raise EditError("a value can only be moved to another name in its own object")
    _, item = _find(text, source)
    if text[item.begin] != '"' or item.begin == item.start:
        raise EditError("an item of a list has no name that could be changed")
    colon = text[JsonNode.of(text, item.begin).end : item.start]
    return text[: item.begin] + _dumps(split(target)[-1], text) + colon + text[item.start :]


def _append(text: str, parent: str, token: str, value: Any) -> str:
    start, items = _items(text, parent)
    is_object = text[start] == "{"
    if not is_object and token not in ("-", str(len(items))):
        raise EditError("an item can only be added at the end of a list")
    if is_object and any(item.key == token for item in items):
        raise EditError(f"there is a member {token!r} already")
    written = f"{_dumps(token, text)}: {_dumps(value, text)}" if is_object else _dumps(value, text)
    if not items:
        return text[: start + 1] + written + text[start + 1 :]
    gap = text[items[-2].end : items[-1].begin] if len(items) > 1 else ", "
    return text[: items[-1].end] + gap + written + text[items[-1].end :]


def _find(text: str, pointer: str) -> tuple[tuple[JsonNode, ...], JsonNode]:
    """Return a value with its siblings."""
    parent, _, token = pointer.rpartition("/")
    _, siblings = _items(text, parent)
    key = split(f"/{token}")[0]
    for item in siblings:
        if item.key == key:
            return siblings, item
    raise EditError(f"no value at {pointer!r}")


def _items(text: str, pointer: str) -> tuple[int, tuple[JsonNode, ...]]:
    """Return where a list or an object begins, and what is in it."""
    node = JsonNode.of(text)
    for token in split(pointer):
        found = next((item for item in node.children if item.key == token), None)
        if found is None:
            raise EditError(f"no value at {pointer!r}")
        node = found
    if text[node.start] not in "{[":
        raise EditError("the pointer enters a value that is neither a list nor an object")
    return node.start, node.children


def _dumps(value: Any, like: str) -> str:
    """Write a value with the escapes that the text around it uses."""
    return json.dumps(value, ensure_ascii=like.isascii())
