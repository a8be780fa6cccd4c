"""Values computed once per shared record, causes that several tasks share, and the measures of their effect."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.task import AgentTask

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


class LastCache(Generic[Owner, Value]):
    """Remembers ``compute(owner)`` for the last owner: checks look at one task after the other."""

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._last: tuple[Owner, Value] | None = None

    def __call__(self, owner: Owner) -> Value:
        """Return the value for ``owner``, computed unless the last call was for this very object."""
        last = self._last
        if last is None or last[0] is not owner:
            last = self._last = owner, self._compute(owner)
        return last[1]


class RecentCache(Generic[Owner, Value]):
    """Remembers ``compute(owner)`` for the last owners: many checks look at the same parts of one task."""

    most = 256
    """How many owners are remembered before all are forgotten."""

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._kept: dict[int, tuple[Owner, Value]] = {}

    def __call__(self, owner: Owner) -> Value:
        """Return the value for ``owner``, computed unless it was asked for recently; the object itself is the key."""
        kept = self._kept.get(id(owner))
        if kept is None:
            if len(self._kept) >= self.most:
                self._kept.clear()
            kept = self._kept[id(owner)] = owner, self._compute(owner)
        return kept[1]


def shared_cause(task: AgentTask, *parts: object) -> str | None:
    """Name a cause by the task's cluster and ``parts``, so that all variants of the base task share one finding.

    Args:
        task: the task that carries the flaw.
        parts: what identifies the flaw within the base task, without turn numbers: variants shift them.

    Returns:
        The cause, or None for a task that has no variants.
    """
    if task.cluster is None:
        return None
    return " | ".join([task.cluster, *(part if isinstance(part, str) else canonical_json(part) for part in parts)])


RUNS = "recorded_runs"
"""Recorded runs with a verdict."""
RUNS_DECIDED = "recorded_runs_decided"
"""Those of them whose verdict the cause decides."""
ANSWERS = "constructed_answers"
"""Answers made for the purpose, of which it is known how they have to be scored."""
ANSWERS_WRONG = "constructed_answers_scored_wrongly"
"""Those of them that are scored otherwise."""
ADDED_UP = (RUNS, RUNS_DECIDED, ANSWERS, ANSWERS_WRONG)
"""All of them."""
