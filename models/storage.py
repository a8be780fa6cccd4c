"""A SQLite file that several processes share: the ground under cache and ledger."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agenthard.models.errors import ConfigurationError, StorageError

BUSY_SECONDS = 30.0
"""How long a process waits for another one that is writing."""


class Database:
    """A connection in WAL mode whose failures are `StorageError`.

    A commit survives the death of the process (kill -9); the last commits before a power cut may be lost, without
    damage to the rest. WAL needs a disk of this machine, not a network drive. Threads may share it; they take turns.
    """

    def __init__(self, path: Path | str, schema: str, version: int) -> None:
        """Open the file, or make it.

        Args:
            path: The file; its folder is made.
            schema: Statements that make the tables where they are missing.
            version: Number of the schema.

        Raises:
            ConfigurationError: It cannot be opened, is something else or has another schema.
        """
        self.path = Path(path)
        self._turn = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            _use_wal(self._connection)
            with self.write() as connection:
                found = int(connection.execute("PRAGMA user_version").fetchone()[0])
                if found not in (0, version):
                    raise ConfigurationError(
                        f"{self.path} has schema {found} and this version reads {version}; "
                        "name another file, or use the version that wrote it"
                    )
                for statement in _statements(schema):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version:d}")
        except (OSError, sqlite3.Error, StorageError) as error:
            raise ConfigurationError(f"cannot open {self.path}: {error}; name a file that can be written") from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is kept, or nothing.

        Raises:
            StorageError: It cannot be written.
        """
        with self._turn, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            StorageError: It cannot be read.
        """
        with self._turn, self._explained():
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(
                f"{self.path}: {error}; what it holds is kept. Free space or mend the permissions, then run again"
            ) from error


def _statements(schema: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would end the transaction."""
    text = ""
    for line in schema.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait when two processes do so at once, so we do."""
    for last in (False,) * 100 + (True,):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            return
        except sqlite3.OperationalError as error:
            if last or "locked" not in str(error):
                raise
            time.sleep(0.05)
