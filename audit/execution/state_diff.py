"""What differs between two states."""

from collections.abc import Iterator
from typing import Any

from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.record import Record


class Difference(Record):
    """One place that differs."""

    pointer: str
    """JSON Pointer into the state."""
    before: Any = None
    """Value before; None where there was none."""
    after: Any = None
    """Value after; None where there is none."""


def differences(before: Any, after: Any, shared: Any = None) -> list[Difference]:
    """List the smallest places in which two states differ.

    Args:
        before: JSON data.
        after: JSON data.
        shared: state to look in for what ``before`` or ``after`` leaves out because it has not changed.

    >>> [(d.pointer, d.before, d.after) for d in differences({"a": [1, 2]}, {"a": [1, 3], "b": 4})]
    [('/a/1', 2, 3), ('/b', None, 4)]
    >>> [found] = differences({}, {"users": {"u": {"zip": "2"}}}, {"users": {"u": {"zip": "1"}}})
    >>> found.pointer, found.before, found.after
    ('/users/u/zip', '1', '2')
    """
    return list(_compare("", before, after, shared))


_ABSENT = object()


def _compare(pointer: str, before: Any, after: Any, shared: Any) -> Iterator[Difference]:
    had_none, has_none = before is _ABSENT, after is _ABSENT
    before = _at(shared, pointer) if had_none else before
    after = _at(shared, pointer) if has_none else after
    if isinstance(before, dict) and isinstance(after, dict):
        told = after if had_none else before if has_none else {**before, **after}
        for key in told:
            if before.get(key, _ABSENT) != after.get(key, _ABSENT):
                yield from _compare(join(pointer, key), before.get(key, _ABSENT), after.get(key, _ABSENT), shared)
    elif isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)) and len(before) == len(after):
        for index, (one, two) in enumerate(zip(before, after, strict=True)):
            yield from _compare(join(pointer, index), one, two, shared)
    elif before != after:
        yield Difference(
            pointer=pointer,
            before=None if before is _ABSENT else before,
            after=None if after is _ABSENT else after,
        )


def _at(shared: Any, pointer: str) -> Any:
    for part in split(pointer):
        if not isinstance(shared, dict) or part not in shared:
            return _ABSENT
        shared = shared[part]
    return shared
