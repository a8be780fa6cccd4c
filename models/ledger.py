"""Every request that was sent, who it was for, what came of it and what it cost: on disk before it leaves.

A row is written as ``sent`` and closed as ``answered``, ``failed`` (the provider refused, nothing to pay) or
``maybe_billed`` (no usable answer, yet the provider may have worked: a time-out, a broken connection, an unreadable
reply). A row that is still ``sent`` when nothing runs any more belongs to a process that died: unknown, sent, no answer
recorded. ``cached`` rows are replies from our own cache; no request was sent for them. An answered row whose reason is
`NOT_STATED` holds the most that the reply can have taken, because the provider did not say what it took.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from agenthard.models.budget import Amount, Budget
from agenthard.models.request import Usage
from agenthard.models.storage import Database
from agenthard.taxonomy.record import Record

State = Literal["sent", "answered", "failed", "maybe_billed", "cached"]
Key = Literal["model", "purpose", "owner"]
NOT_STATED = "UsageNotStated"
"""Reason of an answered row whose tokens are an upper bound."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL, purpose TEXT NOT NULL, owner TEXT NOT NULL, digest TEXT NOT NULL,
    sent_at REAL NOT NULL, closed_at REAL, state TEXT NOT NULL, reason TEXT,
    prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0, cost REAL,
    counted_tokens INTEGER NOT NULL DEFAULT 0, counted_cost REAL NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS attempts_of_owner ON attempts (owner);
CREATE TABLE IF NOT EXISTS spent (calls INTEGER NOT NULL, tokens INTEGER NOT NULL, money REAL NOT NULL);
INSERT INTO spent SELECT 0, 0, 0.0 WHERE NOT EXISTS (SELECT 1 FROM spent);
CREATE TRIGGER IF NOT EXISTS count_sent AFTER INSERT ON attempts WHEN new.state <> 'cached' BEGIN
    UPDATE spent SET calls = calls + 1, tokens = tokens + new.counted_tokens, money = money + new.counted_cost;
END;
CREATE TRIGGER IF NOT EXISTS count_closed AFTER UPDATE ON attempts BEGIN
    UPDATE spent SET tokens = tokens + new.counted_tokens - old.counted_tokens,
                     money = money + new.counted_cost - old.counted_cost;
END;
"""
TOTALS = """
SELECT {keys}, SUM(state <> 'cached'), SUM(state = 'answered'), SUM(state = 'failed'), SUM(state = 'maybe_billed'),
    SUM(state = 'sent'), SUM(state = 'cached'), SUM(prompt_tokens), SUM(completion_tokens), SUM(cached_tokens),
    SUM(reasoning_tokens), SUM(CASE WHEN state = 'answered' THEN cost END),
    SUM(state = 'answered' AND cost IS NULL), SUM(state = 'answered' AND reason IS '{not_stated}'),
    SUM(CASE WHEN state IN ('sent', 'maybe_billed') THEN counted_cost ELSE 0 END)
FROM attempts {group}
"""


class Entry(NamedTuple):
    """Who asks what."""

    model: str
    """Full name of the model."""
    purpose: str
    """Who pays: agent, user or judge."""
    owner: str
    """What it is for, such as the id of an episode."""
    digest: str
    """Digest of the request."""


class Attempt(Record):
    """One row of the ledger."""

    id: int
    """Number of the row, in the order of sending."""
    digest: str
    """Digest of the request."""
    state: State
    """What came of it."""
    reason: str | None
    """Name of the error it failed with; `NOT_STATED` for a reply whose tokens are an upper bound."""
    sent_at: float
    """Seconds since 1970, UTC."""
    closed_at: float | None
    """When the outcome was known; None while it is not."""
    cost: float | None
    """What it cost; None when that is not known."""


class Total(Record):
    """Sums over rows of the ledger."""

    model: str | None = None
    """Model they are about; None for all together."""
    purpose: str | None = None
    """Who paid; None for all together."""
    owner: str | None = None
    """What it was for; None for all together."""
    sent: int
    """Requests sent: answered, failed, maybe billed and unknown."""
    answered: int
    """Those with a reply."""
    failed: int
    """Those that were refused and cost nothing."""
    maybe_billed: int
    """Those without a usable reply that the provider may yet charge."""
    unknown: int
    """Sent, no answer recorded: under way, or their process died."""
    cached: int
    """Replies from our cache, for which nothing was sent."""
    prompt_tokens: int
    """Tokens of prompts, where a reply told."""
    completion_tokens: int
    """Tokens of replies, thoughts included."""
    cached_tokens: int
    """Tokens of prompts that the provider had cached."""
    reasoning_tokens: int
    """Tokens of thoughts."""
    cost: float | None
    """Cost of the replies that have a price; None when there are replies and none has one."""
    unpriced: int
    """Replies without a price, which `cost` leaves out."""
    not_stated: int
    """Replies whose provider did not say what they took; tokens and `cost` hold the most they can have taken."""
    possible_cost: float
    """What the requests that are unknown or maybe billed can have cost at most, on top of `cost`."""


class Ledger:
    """The ledger of a run; several processes may share the file."""

    def __init__(self, path: Path | str, now: Callable[[], float] = time.time) -> None:
        """Open the file, or make it.

        Args:
            path: SQLite file in the run folder.
            now: Tells the time, in seconds since 1970.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, SCHEMA, version=1)
        self._now = now

    def send(self, entry: Entry, upper: Amount, budget: Budget) -> int | None:
        """Write down a request that is about to be sent, and reserve what it can take at most.

        Args:
            entry: Who asks what.
            upper: What it can take at most; it counts as spent until the row is closed.
            budget: What all rows together may take.

        Returns:
            Number of the row; None when the budget leaves no room for it.

        Raises:
            StorageError: It cannot be written; nothing must be sent then.
        """
        with self._database.write() as connection:
            spent = Amount(*connection.execute("SELECT calls, tokens, money FROM spent").fetchone())
            total = Amount(spent.calls + upper.calls, spent.tokens + upper.tokens, spent.money + upper.money)
            if not budget.allows(total):
                return None
            return connection.execute(
                "INSERT INTO attempts (model, purpose, owner, digest, sent_at, state, counted_tokens, counted_cost) "
                "VALUES (?, ?, ?, ?, ?, 'sent', ?, ?)",
                (*entry, self._now(), upper.tokens, upper.money),
            ).lastrowid

    def answered(self, row: int, usage: Usage, cost: float | None, *, stated: bool = True) -> None:
        """Close a row: a reply came.

        Args:
            row: Number of the row.
            usage: Tokens that it took.
            cost: What they cost; None without a price.
            stated: Whether the provider said so; else the tokens are the most that it can have taken.
        """
        with self._database.write() as connection:
            connection.execute(
                "UPDATE attempts SET state = 'answered', closed_at = ?, prompt_tokens = ?, completion_tokens = ?, "
                "cached_tokens = ?, reasoning_tokens = ?, cost = ?, counted_tokens = ?, counted_cost = ?, reason = ? "
                "WHERE id = ?",
                (
                    self._now(),
                    usage.prompt_tokens,
                    usage.completion_tokens,
                    usage.cached_tokens,
                    usage.reasoning_tokens,
                    cost,
                    usage.prompt_tokens + usage.completion_tokens,
                    cost or 0.0,
                    None if stated else NOT_STATED,
                    row,
                ),
            )

    def failed(self, row: int, reason: str, *, maybe_billed: bool) -> None:
        """Close a row: no reply.

        Args:
            row: Number of the row.
            reason: Name of the error.
            maybe_billed: Whether the provider may charge it; what it can cost at most then stays counted.
        """
        state, kept = ("maybe_billed", 1) if maybe_billed else ("failed", 0)
        with self._database.write() as connection:
            connection.execute(
                "UPDATE attempts SET state = ?, closed_at = ?, reason = ?, counted_tokens = counted_tokens * ?, "
                "counted_cost = counted_cost * ? WHERE id = ?",
                (state, self._now(), reason, kept, kept, row),
            )

    def hit(self, entry: Entry) -> None:
        """Write down that our cache had the reply."""
        now = self._now()
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO attempts (model, purpose, owner, digest, sent_at, closed_at, state, cost) "
                "VALUES (?, ?, ?, ?, ?, ?, 'cached', 0)",
                (*entry, now, now),
            )

    def spent(self) -> Amount:
        """What counts against a budget: replies at their cost, rows that are unknown or maybe billed at their most."""
        return Amount(*self._database.read("SELECT calls, tokens, money FROM spent")[0])

    def totals(self, by: Sequence[Key] = ("model", "purpose")) -> list[Total]:
        """Sums per model, purpose or owner, in their order; of everything when `by` is empty."""
        names = [key for key in ("model", "purpose", "owner") if key in by]
        keys = ", ".join(names) or "NULL"
        group = f"GROUP BY {keys} ORDER BY {keys}" if names else "HAVING COUNT(*) > 0"
        fields = [name for name in Total.model_fields if name not in ("model", "purpose", "owner")]
        found = []
        for row in self._database.read(TOTALS.format(keys=keys, group=group, not_stated=NOT_STATED)):
            values = dict(zip([*names, *fields] if names else ["model", *fields], row, strict=True))
            if values["answered"] == 0:
                values["cost"] = 0.0
            found.append(Total(**values))
        return found

    def of_owner(self, owner: str) -> list[Attempt]:
        """Rows of one owner, in the order of sending."""
        columns = ", ".join(Attempt.model_fields)
        rows = self._database.read(f"SELECT {columns} FROM attempts WHERE owner = ? ORDER BY id", (owner,))
        return [Attempt(**dict(zip(Attempt.model_fields, row, strict=True))) for row in rows]

    def close(self) -> None:
        """Close the file."""
        self._database.close()
