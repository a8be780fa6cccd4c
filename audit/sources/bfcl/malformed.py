"""Checked access to untrusted records."""

from collections.abc import Mapping
from typing import Any, TypeVar

from taxonomy.pointer import join

T = TypeVar("T")

_NAMES: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}


class Malformed(Exception):
    """A record breaks the format; it is quarantined with ``reason`` and the ``pointer`` to the place."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.pointer = pointer


def expect(value: Any, kind: type[T], pointer: str) -> T:
    """Return ``value`` when it is a ``kind`` (dict, list or str).

    Raises:
        Malformed: when it is something else.
    """
    if isinstance(value, kind):
        return value
    found = _NAMES.get(type(value), type(value).__name__)
    raise Malformed(f"expected {_NAMES[kind]} at {pointer or 'the top'}, found {found}", pointer)


def member(record: Mapping[str, Any], key: str, kind: type[T], pointer: str = "") -> T:
    """Return ``record[key]`` when it is there and is a ``kind``.

    Raises:
        Malformed: when it is missing or something else.
    """
    if key not in record:
        raise Malformed(f"the field {key!r} is missing", pointer)
    return expect(record[key], kind, join(pointer, key))
