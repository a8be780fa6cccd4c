"""A cache of replies; the key is the digest of the whole request, never its position.

A conversation grows by a message or two from request to request, so a request is stored as a chain: first its settings
and tools, then its messages one by one, each identified by the hash of everything before it. Shared beginnings are
stored once.
"""

import hashlib
import json
import zlib
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from agenthard.models.errors import StorageError
from agenthard.models.request import Reply, Request
from agenthard.models.storage import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    digest TEXT PRIMARY KEY, reply BLOB NOT NULL, written_by TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (digest TEXT PRIMARY KEY, last BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (link BLOB PRIMARY KEY, before BLOB, body BLOB NOT NULL) WITHOUT ROWID;
"""
CHAIN = """
WITH RECURSIVE chain (link, before, body, place) AS (
    SELECT parts.link, before, body, 0 FROM parts JOIN requests ON parts.link = requests.last WHERE digest = ?
    UNION ALL SELECT parts.link, parts.before, parts.body, place + 1 FROM parts JOIN chain ON parts.link = chain.before
) SELECT body FROM chain ORDER BY place DESC
"""


class ReplyCache:
    """Replies and requests on disk; several processes may share the file. Errors are never stored."""

    def __init__(self, path: Path | str) -> None:
        """Open or create the file.

        Args:
            path: SQLite file.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, SCHEMA, version=1)
        self._written_by = f"agenthard {version('agenthard')}"

    def get(self, digest: str) -> Reply | None:
        """Return the reply to the request with this digest, or None.

        Raises:
            StorageError: The file cannot be read, or its content is not a reply.
        """
        rows = self._database.read("SELECT reply, written_by FROM replies WHERE digest = ?", (digest,))
        if not rows:
            return None
        try:
            return Reply.model_validate_json(zlib.decompress(rows[0][0]))
        except (zlib.error, ValidationError) as error:
            raise StorageError(
                f"{self._database.path}: the reply {digest}, written by {rows[0][1]}, cannot be read: {error}. "
                "Use another cache, or move this file away"
            ) from error

    def has(self, digest: str) -> bool:
        """Return whether the request with this digest has a reply."""
        return bool(self._database.read("SELECT 1 FROM replies WHERE digest = ?", (digest,)))

    def put(self, request: Request, digest: str, reply: Reply | None) -> None:
        """Store a request and its reply; existing entries are not replaced.

        Args:
            request: The request.
            digest: Its digest.
            reply: Its reply; None stores only the request, for transcripts.

        Raises:
            StorageError: It cannot be written.
        """
        links = _chain(request)
        with self._database.write() as connection:
            known = "SELECT 1 FROM parts WHERE link = ?"
            # Longest prefix first: everything before a known link is known too.
            for link, before, body in reversed(links):
                if connection.execute(known, (link,)).fetchone():
                    break
                connection.execute("INSERT OR IGNORE INTO parts VALUES (?, ?, ?)", (link, before, zlib.compress(body)))
            connection.execute("INSERT OR IGNORE INTO requests VALUES (?, ?)", (digest, links[-1][0]))
            if reply is not None:
                packed = zlib.compress(reply.model_dump_json().encode("utf-8"))
                connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (digest, packed, self._written_by))

    def request(self, digest: str) -> Request | None:
        """Return the request with this digest, or None when it was never stored."""
        bodies = [zlib.decompress(body) for (body,) in self._database.read(CHAIN, (digest,))]
        if not bodies:
            return None
        settings, *messages = map(json.loads, bodies)
        return Request.model_validate({**settings, "messages": messages})

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _chain(request: Request) -> list[tuple[bytes, bytes | None, bytes]]:
    """Split a request into parts: hash of everything up to here, hash of everything before, the part."""
    parts = [request.model_dump_json(exclude={"messages"}), *(m.model_dump_json() for m in request.messages)]
    links: list[tuple[bytes, bytes | None, bytes]] = []
    before: bytes | None = None
    for part in parts:
        body = part.encode("utf-8")
        link = hashlib.sha256((before or b"") + body).digest()
        links.append((link, before, body))
        before = link
    return links
