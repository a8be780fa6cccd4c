"""The input of a rule: one call of a ground truth, the state before it, and the earlier calls."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agenthard.audit.evidence import quote
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, resolve
from agenthard.taxonomy.task import AgentTask, ToolCall

_NOW = re.compile(r"current time is (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")

Tables = Mapping[str, Mapping[str, Any]]
"""Records by table and id."""


class UnknownFactError(AgentHardError, LookupError):
    """A fact that a rule needs is not in the files, so the rule cannot tell; the message names the fact."""

    code = "AH303"
    remedy = "Nothing: the rule does not apply to this task. Complete the benchmark's files to have it checked."


@dataclass(frozen=True)
class EarlierCall:
    """An earlier call of the ground truth."""

    pointer: str
    """JSON Pointer of the call."""
    call: ToolCall
    """The call."""
    text: str
    """The tool's response."""
    failed: bool
    """Whether the tool refused the call."""


@dataclass(frozen=True)
class PolicyCase:
    """One call and the state before it."""

    task: AgentTask
    """The task."""
    pointer: str
    """JSON Pointer of the call."""
    call: ToolCall
    """The call."""
    changes: Tables
    """Records that earlier calls changed or added, by table and id."""
    earlier: tuple[EarlierCall, ...] = ()
    """Earlier calls, in order."""

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the call."""
        return self.call.arguments

    @property
    def policy(self) -> str:
        """Text of the policy."""
        return self.task.environment.policy

    @property
    def now(self) -> datetime:
        """The current time as the policy states it, without a time zone.

        Raises:
            UnknownFactError: when it states none.
        """
        found = _NOW.search(self.policy)
        if found is None:
            raise UnknownFactError("the policy states no current time")
        return datetime.fromisoformat(found.group(1))

    def record(self, table: str, key: str) -> dict[str, Any]:
        """Return a record of the database as the earlier calls left it; it must not be changed.

        Raises:
            UnknownFactError: when there is none.
        """
        found = self.changes.get(table, {}).get(key)
        return found if isinstance(found, dict) else self.original(table, key)

    def original(self, table: str, key: str) -> dict[str, Any]:
        """Return a record of the database as it was before the ground truth; it must not be changed.

        Raises:
            UnknownFactError: when there was none.
        """
        found = self.task.environment.state.get(table, {}).get(key)
        if not isinstance(found, dict):
            raise UnknownFactError(f"no {key!r} among the {table}")
        return found

    def before(self, *tools: str) -> list[EarlierCall]:
        """Return the successful earlier calls of some tools."""
        return [made for made in self.earlier if made.call.name in tools and not made.failed]

    def says(self, pattern: str) -> bool:
        """Tell whether a text of the user matches a regular expression, ignoring case."""
        return any(re.search(pattern, text, re.IGNORECASE) for _, text in self.task.user_texts())

    def given(self, *path: str | int, note: str = "") -> Evidence:
        """Quote an argument of the call or a part of it; the whole call if the argument is not a single value."""
        pointer = join(f"{self.pointer}/arguments", *path)
        try:
            return quote(self.task, pointer, note=note)
        except LookupError:
            return quote(self.task, self.pointer, note=note)

    def made(self, earlier: EarlierCall, note: str = "") -> Evidence:
        """Quote an earlier call."""
        return quote(self.task, earlier.pointer, note=note)

    def recorded(self, table: str, key: str, *path: str | int, note: str = "") -> tuple[Evidence, ...]:
        """Quote a record of the database, or a part of one.

        Returns:
            Nothing if earlier calls changed it, because the files have another value then.
        """
        try:
            now, then = (
                resolve(root, join("", *path)) for root in (self.record(table, key), self.original(table, key))
            )
        except LookupError:
            return ()
        return (quote(self.task, join("/environment/state", table, key, *path), note=note),) if now == then else ()

    def stated(self, text: str, note: str = "") -> Evidence:
        """Quote a part of the policy."""
        return quote(self.task, "/environment/policy", text=text, note=note)
