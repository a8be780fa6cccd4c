"""Answers in BFCL's format: the accepted values of each parameter, as any-of nodes of the gold calls.

The rules follow the checker, which looks at the documented type. An argument holds a list of accepted values. Where
the type is an object, an accepted object holds such a list per member; where it is an array of objects, so does each
object in it; deeper values are compared as they are.

The empty string means "may be left out" and is not a value: it makes the node optional and is removed. There are two
special cases. A required parameter must always be given, so its node is never optional; an empty string that is its
only accepted text is the value itself. An optional parameter that accepts only the empty string must be left out: its
node is optional and has no values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect
from agenthard.taxonomy.accepted import ANY_OF, any_of
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolCall, ToolSpec

LEFT_OUT = ""


def answer_calls(
    ground_truth: Sequence[Any], tools: Sequence[ToolSpec], *, one_function: bool
) -> tuple[tuple[ToolCall, ...], list[str]]:
    """Read the ``ground_truth`` of a single-turn answer, a list of ``{function: {parameter: [accepted values]}}``.

    Args:
        ground_truth: the list.
        tools: tools of the task.
        one_function: whether the checker uses the first tool and ignores the function name in the answer.

    Returns:
        The calls, and JSON Pointers into the task record of the members whose accepted values are not a list. The
        checker compares such a member with the single characters of its text, so no run can match it.

    Raises:
        MalformedRecordError: when the answer has another shape.
    """
    calls = []
    unlisted: list[str] = []
    by_name = {tool.name: tool for tool in reversed(tools)}
    for index, item in enumerate(ground_truth):
        pointer = join("/ground_truth", index)
        if len(expect(item, dict, pointer)) != 1:
            raise MalformedRecordError(f"expected one function, found {len(item)}", pointer)
        [(name, arguments)] = item.items()
        tool = tools[0] if one_function and tools else by_name.get(name)
        schema = tool.parameters if tool else {}
        required = schema.get("required")
        nodes = {}
        for parameter, values in expect(arguments, dict, join(pointer, name)).items():
            accepted = expect(values, list, join(pointer, name, parameter))
            place = join("/ground_truth/turns/0", index, "arguments", parameter)
            needed = isinstance(required, list) and parameter in required
            nodes[parameter] = _node(accepted, _property(schema, parameter), needed, place, unlisted)
        calls.append(ToolCall(name=tool.name if tool else name, arguments=nodes))
    return tuple(calls), unlisted


def _node(
    values: list[Any], schema: Mapping[str, Any], required: bool, pointer: str, unlisted: list[str]
) -> dict[str, Any]:
    kept = [value for value in values if value != LEFT_OUT]
    if not kept and values and required and schema.get("type", "string") == "string":
        kept = [LEFT_OUT]
    nested = [_nested(value, schema, join(pointer, ANY_OF, i), unlisted) for i, value in enumerate(kept)]
    return any_of(nested, optional=LEFT_OUT in values and not required)


def _nested(value: Any, schema: Mapping[str, Any], pointer: str, unlisted: list[str]) -> Any:
    if isinstance(value, dict) and schema.get("type") == "object":
        members = {}
        for key, accepted in value.items():
            place = join(pointer, key)
            if isinstance(accepted, list):
                members[key] = _node(accepted, {}, False, place, unlisted)
            else:
                members[key] = accepted
                unlisted.append(place)
        return members
    items = schema.get("items")
    if isinstance(value, list) and schema.get("type") == "array" and isinstance(items, dict):
        if items.get("type") == "object":
            return [_nested(item, items, join(pointer, i), unlisted) for i, item in enumerate(value)]
    return value


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = schema.get("properties", {}).get(name, {})
    return found if isinstance(found, dict) else {}
