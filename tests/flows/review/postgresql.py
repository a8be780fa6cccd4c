"""A PostgreSQL server of our own, which listens on a Unix socket only."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

USER = "review"


def program(name: str) -> str | None:
    """A program of PostgreSQL; None where it is not installed."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(places[-1]) if places else None)


class PostgresServer:
    """A server whose socket and data are in one folder. PostgreSQL refuses to run as root."""

    def __init__(self, folder: Path) -> None:
        initdb, pg_ctl = program("initdb"), program("pg_ctl")
        assert initdb and pg_ctl, "PostgreSQL is not installed"
        self.folder, self._pg_ctl = folder, pg_ctl
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        options = ("--username", USER, "--auth", "trust", "--no-sync", "--encoding", "UTF8")
        self._call(initdb, "--pgdata", str(folder / "data"), *options)
        self.start()

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off"
        self._control("start", "--log", str(self.folder / "log"), "--options", options)

    def stop(self, mode: str = "fast") -> None:
        """``immediate`` ends it as a crash does."""
        self._control("stop", "--mode", mode)

    def new_database(self, name: str) -> str:
        """Make an empty database, and return its URL."""
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, database: str, folder: Path | None = None) -> str:
        """URL of a database; the folder is that of another socket that leads to the server."""
        return f"postgresql://{USER}@/{database}?host={folder or self.folder}"

    def execute(self, statement: str) -> None:
        with psycopg.connect(host=str(self.folder), user=USER, dbname="postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def _control(self, action: str, *words: str) -> None:
        self._call(self._pg_ctl, action, "--wait", "--pgdata", str(self.folder / "data"), *words)

    def _call(self, *words: str) -> None:
        done = subprocess.run(words, user=self._user, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Start a server in a folder of its own, and stop it in the end."""
    with tempfile.TemporaryDirectory(prefix="ah-pg-") as name:
        server = PostgresServer(Path(name))
        try:
            yield server
        finally:
            server.stop()
