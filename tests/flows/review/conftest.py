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

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.demo import write_demo
from tests.flows.audits import audit_by_steps

_NUMBERS = count()


def _program(name: str) -> str:
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(places[-1]) if places else None)
    if found is None:
        pytest.skip(f"PostgreSQL is not installed: {name} is missing")
    return found


@pytest.fixture(scope="session")
def demo_audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folder of the audit of the demo benchmark with its runs; for reading only."""
    folder = tmp_path_factory.mktemp("demo")
    benchmark = folder / "demo-benchmark"
    write_demo(benchmark)
    settings = AuditSettings(
        source="native", path=str(benchmark), runs=(str(benchmark / "runs.jsonl"),), out=str(folder / "demo")
    )
    audit_by_steps(settings)
    return folder / "demo"


@pytest.fixture
def demo_run(demo_audit: Path, tmp_path: Path) -> Path:
    """A copy of it to write into."""
    shutil.copytree(demo_audit, tmp_path / "demo")
    return tmp_path / "demo"


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


@pytest.fixture
def later(demo_run: Path, tmp_path: Path) -> Path:
    """A run of the benchmark with the gold call of parcels/11 corrected."""
    audited = AuditSettings.model_validate_json((demo_run / "work/settings.json").read_bytes())
    shutil.copytree(audited.path, tmp_path / "benchmark")
    file = tmp_path / "benchmark/tasks.jsonl"
    text = file.read_text(encoding="utf-8")
    assert text.count('"weight_grams": "1250"') == 1
    file.write_text(text.replace('"weight_grams": "1250"', '"weight_grams": 1250'), encoding="utf-8")
    changed = {"path": str(tmp_path / "benchmark"), "out": str(tmp_path / "later")}
    audit_by_steps(audited.model_copy(update=changed))
    return tmp_path / "later"
