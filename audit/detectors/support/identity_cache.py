"""Computing something once per shared record, by the record's identity."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Owner = TypeVar("Owner")
Value = TypeVar("Value")


class IdentityCache(Generic[Owner, Value]):
    """Remembers ``compute(owner)`` for as long as ``owner`` lives.

    Tasks of one domain share one EnvironmentSpec, which may hold a database of megabytes: it is not hashable, and
    comparing it would cost as much as reading it, so the object itself is the key.
    """

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._kept: dict[int, tuple[weakref.ref[Owner], Value]] = {}

    def __call__(self, owner: Owner) -> Value:
        """Return the value for ``owner``, computed at the first call."""
        kept = self._kept.get(id(owner))
        if kept is not None and kept[0]() is owner:
            return kept[1]
        value = self._compute(owner)
        key = id(owner)
        self._kept[key] = (weakref.ref(owner, lambda _: self._kept.pop(key, None)), value)
        return value
