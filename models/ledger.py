"""Records every request before it is sent: its owner, its outcome and its cost.

A row is written as ``sent`` and closed as ``answered``, ``failed`` (the provider refused, nothing to pay) or
``maybe_billed`` (no usable answer, but the provider may charge for its work: a timeout, a lost connection, an
unreadable reply). A row that is still ``sent`` after all processes have ended belongs to one that died; its outcome is
unknown. ``cached`` rows are replies from our own cache; no request was sent for them. An answered row with the
reason `NOT_STATED` holds an upper bound of the tokens, because the provider did not state them.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from agenthard.models.budget import Amount, Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.request import Reply, Request, Usage
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
CREATE INDEX IF NOT EXISTS attempts_of_digest ON attempts (digest);
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
ANSWERED = """
UPDATE attempts SET state = 'answered', closed_at = ?, prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?,
    reasoning_tokens = ?, cost = ?, counted_tokens = ?, counted_cost = ?, reason = ? WHERE id = ?
"""
UNCLOSED = """
SELECT MAX(id) FROM attempts WHERE digest = ? AND state = 'sent'
    AND NOT EXISTS (SELECT 1 FROM attempts AS other WHERE other.digest = attempts.digest AND other.state = 'answered')
"""
TOTALS = """
SELECT {keys}, SUM(state <> 'cached'), SUM(state = 'answered'), SUM(state = 'failed'), SUM(state = 'maybe_billed'),
    SUM(state = 'sent'), SUM(state = 'cached'), SUM(prompt_tokens), SUM(completion_tokens), SUM(cached_tokens),
    SUM(reasoning_tokens), SUM(CASE WHEN state = 'answered' THEN cost END),
    SUM(state = 'answered' AND cost IS NULL), SUM(state = 'answered' AND reason IS '{not_stated}'),
    SUM(CASE WHEN state IN ('sent', 'maybe_billed') THEN counted_cost ELSE 0 END)
FROM attempts {group}
"""


PLACES = 9
"""Decimal places of sums of costs."""


class Entry(NamedTuple):
    """Identity of a request in the ledger."""

    model: str
    """Full name of the model."""
    purpose: str
    """Purpose of the request: agent, user or judge."""
    owner: str
    """Owner of the request, such as the id of an episode."""
    digest: str
    """Digest of the request."""


class LedgerRow(Record):
    """One row of the ledger."""

    id: int
    """Number of the row, in the order of sending."""
    digest: str
    """Digest of the request."""
    state: State
    """Outcome of the request."""
    reason: str | None
    """Name of the error; `NOT_STATED` for a reply whose tokens are an upper bound."""
    sent_at: float
    """Seconds since 1970, UTC."""
    closed_at: float | None
    """Time of the outcome, in the same unit; None while it is unknown."""
    cost: float | None
    """Cost; None when it is unknown."""


class Total(Record):
    """Sums over rows of the ledger."""

    model: str | None = None
    """The model; None for all models together."""
    purpose: str | None = None
    """The purpose; None for all purposes together."""
    owner: str | None = None
    """The owner; None for all owners together."""
    sent: int
    """Requests sent: answered, failed, maybe billed and unknown."""
    answered: int
    """Requests with a reply."""
    failed: int
    """Requests that were refused and cost nothing."""
    maybe_billed: int
    """Requests without a usable reply that the provider may still charge for."""
    unknown: int
    """Requests with an unknown outcome: still in flight, or their process died."""
    cached: int
    """Replies from our cache, without a request."""
    prompt_tokens: int
    """Tokens of prompts."""
    completion_tokens: int
    """Tokens of replies, reasoning included."""
    cached_tokens: int
    """Tokens of prompts that the provider had cached."""
    reasoning_tokens: int
    """Reasoning tokens."""
    cost: float | None
    """Cost of the replies that have a price; None when there are replies and none has one."""
    unpriced: int
    """Replies without a price, which `cost` does not include."""
    not_stated: int
    """Replies whose tokens the provider did not state; tokens and `cost` hold an upper bound for them."""
    possible_cost: float
    """Maximum cost of the requests that are unknown or maybe billed, in addition to `cost`."""


class Ledger:
    """The ledger of a run; several processes may share the file."""

    def __init__(self, path: Path | str, now: Callable[[], float] = time.time) -> None:
        """Open or create the file.

        Args:
            path: SQLite file in the run folder.
            now: Returns the time in seconds since 1970.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, SCHEMA, version=1)
        self._now = now

    def send(self, entry: Entry, upper: Amount, budget: Budget) -> int | None:
        """Record a request that is about to be sent, and reserve its maximum cost.

        Args:
            entry: Identity of the request.
            upper: Its maximum cost; it counts as spent until the row is closed.
            budget: Limit for all rows together.

        Returns:
            Number of the row; None when it would exceed the budget.

        Raises:
            StorageError: It cannot be written; then nothing must be sent.
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
        """Close a row: a reply arrived.

        Args:
            row: Number of the row.
            usage: Its tokens.
            cost: Their cost; None without a price.
            stated: Whether the provider stated the tokens; if not, they are an upper bound.
        """
        with self._database.write() as connection:
            self._close(connection, row, usage, cost, stated)

    def failed(self, row: int, reason: str, *, maybe_billed: bool) -> None:
        """Close a row: no reply.

        Args:
            row: Number of the row.
            reason: Name of the error.
            maybe_billed: Whether the provider may charge for it; then its maximum cost stays counted.
        """
        state, kept = ("maybe_billed", 1) if maybe_billed else ("failed", 0)
        with self._database.write() as connection:
            connection.execute(
                "UPDATE attempts SET state = ?, closed_at = ?, reason = ?, counted_tokens = counted_tokens * ?, "
                "counted_cost = counted_cost * ? WHERE id = ?",
                (state, self._now(), reason, kept, kept, row),
            )

    def hit(self, entry: Entry, usage: Usage, cost: float | None, *, stated: bool = True) -> None:
        """Record that our cache had the reply.

        A reply is stored before its row is closed. When the process dies in between, the row stays ``sent``: the hit
        closes it with the tokens of the reply, provided no row of this request is answered.

        Args:
            entry: Identity of the request.
            usage: Tokens of the reply.
            cost: Their cost; None without a price.
            stated: Whether the provider stated the tokens.
        """
        now = self._now()
        with self._database.write() as connection:
            (row,) = connection.execute(UNCLOSED, (entry.digest,)).fetchone()
            if row is not None:
                self._close(connection, row, usage, cost, stated)
            connection.execute(
                "INSERT INTO attempts (model, purpose, owner, digest, sent_at, closed_at, state, cost) "
                "VALUES (?, ?, ?, ?, ?, ?, 'cached', 0)",
                (*entry, now, now),
            )

    def spent(self) -> Amount:
        """Return what counts against a budget: replies at their cost, unknown or maybe billed rows at their maximum."""
        return Amount(*self._database.read("SELECT calls, tokens, money FROM spent")[0])

    def totals(self, by: Sequence[Key] = ("model", "purpose")) -> list[Total]:
        """Return sums per model, purpose or owner, sorted; one sum of all rows when `by` is empty."""
        names = [key for key in ("model", "purpose", "owner") if key in by]
        keys = ", ".join(names) or "NULL"
        group = f"GROUP BY {keys} ORDER BY {keys}" if names else "HAVING COUNT(*) > 0"
        fields = [name for name in Total.model_fields if name not in ("model", "purpose", "owner")]
        found = []
        for row in self._database.read(TOTALS.format(keys=keys, group=group, not_stated=NOT_STATED)):
            values = dict(zip([*names, *fields] if names else ["model", *fields], row, strict=True))
            if values["answered"] == 0:
                values["cost"] = 0.0
            # The last digits of a sum depend on the order in which requests were answered.
            for name in ("cost", "possible_cost"):
                values[name] = None if values[name] is None else round(values[name], PLACES)
            found.append(Total(**values))
        return found

    def seconds(self) -> dict[str, float]:
        """Sum up the time from sending to the end of each request, by owner; replies from our cache take none."""
        query = (
            "SELECT owner, sum(closed_at - sent_at) FROM attempts WHERE closed_at IS NOT NULL AND state <> 'cached' "
            "GROUP BY owner ORDER BY owner"
        )
        return {str(owner): float(total) for owner, total in self._database.read(query)}

    def of_owner(self, owner: str) -> list[LedgerRow]:
        """Return the rows of one owner, in the order of sending."""
        columns = ", ".join(LedgerRow.model_fields)
        rows = self._database.read(f"SELECT {columns} FROM attempts WHERE owner = ? ORDER BY id", (owner,))
        return [LedgerRow(**dict(zip(LedgerRow.model_fields, row, strict=True))) for row in rows]

    def _close(self, connection: sqlite3.Connection, row: int, usage: Usage, cost: float | None, stated: bool) -> None:
        tokens = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens)
        counted = usage.prompt_tokens + usage.completion_tokens
        reason = None if stated else NOT_STATED
        connection.execute(ANSWERED, (self._now(), *tokens, cost, counted, cost or 0.0, reason, row))

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class Exchange(Record):
    """One request and its outcome."""

    digest: str
    """Digest of the request."""
    request: Request | None
    """The request; None when the process died before it was stored."""
    reply: Reply | None
    """The reply; None when there is none."""
    attempts: tuple[LedgerRow, ...]
    """All attempts at it, replies from the cache included."""


def transcript(owner: str, ledger: Ledger, cache: ReplyCache) -> Iterator[Exchange]:
    """Yield the exchanges of one owner, in the order of their first attempts.

    A resumed run repeats its first requests and finds the replies in the cache; each exchange is yielded once, with all
    its attempts.

    Args:
        owner: Owner of the requests.
        ledger: Holds the attempts.
        cache: Holds requests and replies.
    """
    attempts: dict[str, list[LedgerRow]] = {}
    for row in ledger.of_owner(owner):
        attempts.setdefault(row.digest, []).append(row)
    for digest, rows in attempts.items():
        yield Exchange(digest=digest, request=cache.request(digest), reply=cache.get(digest), attempts=tuple(rows))
