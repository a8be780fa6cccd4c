"""A SQLite file that several processes share, used by cache, ledger and the stores of runs."""

import errno
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agenthard.models.errors import ConfigurationError, StorageError

BUSY_SECONDS = 30.0
"""Maximum wait for another process that is writing."""
_TABLES = "SELECT name FROM sqlite_master"
"""Query of the names of tables and indexes."""


class Database:
    """A connection in WAL mode; failures raise `StorageError`.

    A commit survives the death of the process (kill -9). A power cut may lose the last commits, without damage to the
    rest. WAL needs a local disk, not a network drive. Threads may share a connection; they take turns.
    """

    def __init__(self, path: Path | str, schema: str, version: int) -> None:
        """Open or create the file.

        Args:
            path: The file; its folder is created.
            schema: Statements that create missing tables.
            version: Number of the schema.

        Raises:
            ConfigurationError: It cannot be opened, is not such a file, or has another schema.
            StorageError: The disk is full or fails.
        """
        self.path = Path(path)
        self._turn = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            _use_wal(self._connection)
            found = int(self.read("PRAGMA user_version")[0][0])
            if found not in (0, version):
                raise ConfigurationError(
                    f"{self.path} has schema {found}, and this version reads {version}; "
                    "use another file, or the version that wrote it"
                )
            # Who only reads a complete file leaves every byte of it as it is.
            if found == 0 or not _tables_of(schema) <= {name for (name,) in self.read(_TABLES)}:
                with self.write() as connection:
                    for statement in _statements(schema):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {version:d}")
        except (OSError, sqlite3.Error, StorageError) as error:
            if _is_of_the_disk(error.__cause__ if isinstance(error, StorageError) else error):
                raise self._storage_error(error.__cause__ or error) from error
            raise ConfigurationError(f"cannot open {self.path}: {error}; give a file that can be written") from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all of it is stored, or nothing.

        Raises:
            StorageError: It cannot be written.
        """
        with self._turn, self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Raises:
            StorageError: It cannot be read.
        """
        with self._turn, self._translated():
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._storage_error(error) from error

    def _storage_error(self, error: BaseException) -> StorageError:
        return StorageError(
            f"{self.path}: {error}; its content is unchanged. Free space or fix the permissions, then run again"
        )


def _is_of_the_disk(error: BaseException | None) -> bool:
    """Tell whether the disk is full or fails, so that the same call may succeed later."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says which operation it was
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _tables_of(schema: str) -> set[str]:
    """Name the tables and indexes that a schema creates."""
    made = sqlite3.connect(":memory:")
    try:
        made.executescript(schema)
        return {name for (name,) in made.execute(_TABLES)}
    finally:
        made.close()


def _statements(schema: str) -> Iterator[str]:
    """Yield the statements of a script one by one, since `executescript` would end the transaction."""
    text = ""
    for line in schema.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL, with retries: SQLite does not wait when two processes do so at once."""
    for last in (False,) * 100 + (True,):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            return
        except sqlite3.OperationalError as error:
            if last or "locked" not in str(error):
                raise
            time.sleep(0.05)
