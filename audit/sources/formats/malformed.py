"""Checked access to untrusted records."""

from collections.abc import Mapping
from typing import Any, TypeVar

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import join

T = TypeVar("T")

MAX_DEPTH = 100

_NAMES: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}


class MalformedRecordError(AgentHardError):
    """A record breaks the format; it is quarantined with the message and the ``pointer`` to the place."""

    code = "AH104"
    remedy = (
        "Correct the record at the pointer that the message names, or leave it: the audit quarantines it and continues."
    )

    def __init__(self, reason: str, pointer: str = "", advice: str = "mend or remove the record") -> None:
        super().__init__(f"{reason}; {advice}")
        self.pointer = pointer


def expect(value: Any, kind: type[T], pointer: str) -> T:
    """Return ``value`` when it is a ``kind`` (dict, list or str).

    Raises:
        MalformedRecordError: when it is something else.
    """
    if isinstance(value, kind):
        return value
    found = _NAMES.get(type(value), type(value).__name__)
    raise MalformedRecordError(f"expected {_NAMES[kind]} at {pointer or 'the top'}, found {found}", pointer)


def member(record: Mapping[str, Any], key: str, kind: type[T], pointer: str = "") -> T:
    """Return ``record[key]`` when it is there and is a ``kind``.

    Raises:
        MalformedRecordError: when it is missing or something else.
    """
    if key not in record:
        raise MalformedRecordError(f"the field {key!r} is missing", pointer)
    return expect(record[key], kind, join(pointer, key))


def require_shallow(value: Any, limit: int = MAX_DEPTH) -> None:
    """Refuse a document whose containers are nested more than ``limit`` deep; nothing later could write it out.

    Raises:
        MalformedRecordError: when it is nested deeper.
    """
    if limit == 0:
        raise MalformedRecordError(f"the record is nested more than {MAX_DEPTH} levels deep", advice="flatten it")
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            require_shallow(item, limit - 1)
