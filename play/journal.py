"""A journal of steps: a play that was killed continues where it was, and no finished step is carried out again.

A play is told again from its beginning; each step that costs something or changes something asks the journal first. A
step that is recorded gives its recorded result. A step that was begun and not ended when the play was killed is never
carried out again where its effects are unknown: it gives a result that says so.
"""

import json
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record

R = TypeVar("R", bound=Record)


class JournalError(AgentHardError):
    """A play asks for another step than its journal records: the code or the scenario has changed since."""

    code = "AH626"
    remedy = "Play into another folder: what was played with other code cannot be continued."


class Journal(Protocol):
    """Keeps the entries of one play, in order; an entry that was appended survives a kill."""

    def entries(self) -> Sequence[bytes]:
        """Return all entries."""
        ...

    def append(self, entry: bytes) -> None:
        """Add an entry."""
        ...


class MemoryJournal:
    """A journal that ends with the process."""

    def __init__(self, entries: Sequence[bytes] = ()) -> None:
        self._entries = list(entries)

    def entries(self) -> Sequence[bytes]:
        """Return all entries."""
        return list(self._entries)

    def append(self, entry: bytes) -> None:
        """Add an entry."""
        self._entries.append(entry)


class Steps:
    """The steps of one play, recorded in a journal."""

    def __init__(self, journal: Journal) -> None:
        """Begin a play, or begin to tell it again."""
        self._journal = journal
        self._recorded: deque[dict[str, Any]] = deque(map(json.loads, journal.entries()))
        self.repeated = 0
        """Steps whose result was in the journal."""

    async def run(
        self,
        kind: str,
        key: str,
        result: type[R],
        work: Callable[[], Awaitable[R]],
        *,
        interrupted: R | None = None,
    ) -> R:
        """Carry a step out, or return what it gave before.

        Args:
            kind: what kind of step it is.
            key: what the step does, so that a journal of another play is noticed.
            result: the record that it gives.
            work: carries it out. What it raises ends the play, and nothing is recorded.
            interrupted: what it gives where it was begun and a kill ended it; None for a step that can be repeated.

        Raises:
            JournalError: the journal has another step here.
        """
        begun = self._begun(kind, key)
        if begun is not None and begun["done"]:
            self.repeated += 1
            return result.model_validate(begun["result"])
        if begun is not None and interrupted is not None:
            return self._record(kind, key, interrupted)
        if interrupted is not None:
            self._append({"kind": kind, "key": key, "done": False})
        return self._record(kind, key, await work())

    def _begun(self, kind: str, key: str) -> dict[str, Any] | None:
        """Return the record of this step: its result, or that it was begun; None when it is new."""
        if not self._recorded:
            return None
        entry = self._recorded.popleft()
        if (entry["kind"], entry["key"]) != (kind, key):
            raise JournalError(
                f"the journal has {entry['kind']} {entry['key'][:80]!r} where {kind} {key[:80]!r} is due"
            )
        if not entry["done"] and self._recorded:
            return self._recorded.popleft()
        return entry

    def _record(self, kind: str, key: str, result: R) -> R:
        self._append({"kind": kind, "key": key, "done": True, "result": result.model_dump(mode="json")})
        return result

    def _append(self, entry: dict[str, Any]) -> None:
        self._journal.append(json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode("ascii"))
