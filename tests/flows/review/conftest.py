"""A PostgreSQL server for the tests of reviews, and stores of both kinds."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

_NUMBERS = count()


def _program(name: str) -> str:
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(places[-1]) if places else None)
    if found is None:
        pytest.skip(f"PostgreSQL is not installed: {name} is missing")
    return found


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Path]:
    """Folder of the socket of a server; it listens nowhere else. PostgreSQL refuses to run as root."""
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    user = "nobody" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="ah-pg-") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)
        data, options = folder / "data", f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"

        def call(*words: str) -> None:
            done = subprocess.run(words, user=user, cwd="/", capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

        call(
            initdb, "--pgdata", str(data), "--username", "review", "--auth", "trust", "--no-sync", "--encoding", "UTF8"
        )
        call(pg_ctl, "start", "--wait", "--pgdata", str(data), "--log", str(folder / "log"), "--options", options)
        try:
            yield folder
        finally:
            call(pg_ctl, "stop", "--wait", "--mode", "fast", "--pgdata", str(data))


@pytest.fixture
def postgresql_url(postgresql_server: Path) -> str:
    """URL of a new, empty database."""
    name = f"review_{next(_NUMBERS)}"
    with psycopg.connect(host=str(postgresql_server), user="review", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"postgresql://review@/{name}?host={postgresql_server}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'review.db'}"
    found: str = request.getfixturevalue("postgresql_url")
    return found
