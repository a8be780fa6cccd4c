"""Columns inside lists of objects: dialogues, calls and turns under names that nothing knows."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agenthard.audit.sources.mapping.calls import read_pairs
from agenthard.audit.sources.mapping.conversation import ROLES
from agenthard.audit.sources.mapping.infer.columns import Column, is_calls, is_messages, is_tools, step
from agenthard.audit.sources.mapping.paths import structured

_MOSTLY = 0.8
"""Share of the values that must have the shape."""
_STABLE = 0.5
"""A key that fewer of the objects have is data, not a column."""
_KNOWN = 0.5
"""Share of the names that must be tools; the others may be flaws."""
_MOST_SPEAKERS = 8
_LONGEST_SPEAKER = 24
_ROLES = {*ROLES, "user", "assistant", "system", "tool", "developer", "function"}


def columns_in_lists(columns: Sequence[Column], tools: Collection[str]) -> list[Column]:
    """Return columns for what lists of objects hold, with JMESPath projections as paths.

    A dialogue becomes ``path[].{role: speaker, content: utterance}``, calls under unknown names
    ``path[].{name: fn, arguments: using}``; every member that most objects have becomes ``path[].member``.

    Args:
        columns: the columns of some rows.
        tools: names of all documented tools.
    """
    found: list[Column] = []
    for column in columns:
        lists = [structured(value) for value in column.values]
        present = [value for value in lists if value]
        if not present or sum(map(_is_objects, present)) < _MOSTLY * len(present):
            continue
        if any(map(is_tools, present)) or column.path.startswith("["):
            continue
        found += _inside(column, [value if _is_objects(value) else [] for value in lists], tools)
    return found


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _inside(column: Column, lists: Sequence[list[Any]], tools: Collection[str]) -> list[Column]:
    items = [item for each in lists for item in each]
    counts = Counter(key for item in items for key in item)
    keys = [key for key, count in counts.items() if count >= _STABLE * len(items)]
    found: list[Column] = []
    present = [each for each in lists if each]
    if not all(map(is_messages, present)) and (dialogue := _dialogue(items, keys)):
        found.append(_projected(column, lists, {"role": dialogue[0], "content": dialogue[1]}))
    if not is_calls(items, tools) and (call := _call(items, keys, tools)):
        found.append(_projected(column, lists, {"name": call[0], "arguments": call[1]}))
    if all(map(is_messages, present)) or is_calls(items, tools):
        return found
    for key in keys:
        whole = counts[key] == len(items)
        structures = any(isinstance(structured(item.get(key)), (list, Mapping)) for item in items)
        path = f"{column.path}[].{step(key)}"
        if not whole and structures:
            path = f"{column.path}[].not_null({step(key)}, `[]`)"
        values = tuple(
            [item.get(key, []) if structures else item[key] for item in each if structures or item.get(key) is not None]
            or None
            for each in lists
        )
        found.append(Column(path, (*column.keys, "[]", key), values))
    return found


def _projected(column: Column, lists: Sequence[list[Any]], members: Mapping[str, str]) -> Column:
    path = f"{column.path}[].{{{', '.join(f'{name}: {step(key)}' for name, key in members.items())}}}"
    values = tuple([{name: item.get(key) for name, key in members.items()} for item in each] or None for each in lists)
    return Column(path, column.keys, values)


def _dialogue(items: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> tuple[str, str] | None:
    """Return the keys of who speaks and of what is said: few short words of which one is a role, and longer texts."""
    texts = [key for key in keys if sum(isinstance(item.get(key), str) for item in items) >= _MOSTLY * len(items)]
    speakers = []
    for key in texts:
        said = {str(item[key]).lower() for item in items if isinstance(item.get(key), str)}
        few = 1 < len(said) <= _MOST_SPEAKERS and all(len(each) <= _LONGEST_SPEAKER for each in said)
        if few and (said & _ROLES or len(said) == 2):
            speakers.append((bool(said & _ROLES), key))
    if not speakers:
        return None
    speaker = max(speakers)[1]
    others = [key for key in texts if key != speaker]
    longest = max(others, key=lambda key: sum(len(str(item.get(key) or "").split()) for item in items), default=None)
    if longest is None or sum(len(str(item.get(longest) or "").split()) > 2 for item in items) < len(items) / 2:
        return None
    return speaker, longest


def _call(items: Sequence[Mapping[str, Any]], keys: Sequence[str], tools: Collection[str]) -> tuple[str, str] | None:
    names = [key for key in keys if sum(str(item.get(key)) in tools for item in items) > _KNOWN * len(items)]
    given = [key for key in keys if all(_is_arguments(structured(item.get(key))) for item in items if key in item)]
    return (names[0], given[0]) if names and given else None


def _is_arguments(value: Any) -> bool:
    return (
        isinstance(value, Mapping) or value in (None, []) or (isinstance(value, list) and read_pairs(value) is not None)
    )
