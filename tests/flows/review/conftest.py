"""A PostgreSQL server for the tests of reviews, and stores of both kinds."""

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.demo import write_demo
from tests.flows.audits import audit_by_steps
from tests.flows.review.postgresql import PostgresServer, program, running_server

_NUMBERS = count()


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
def postgresql_server() -> Iterator[PostgresServer]:
    """A server that listens on a Unix socket only."""
    if program("initdb") is None or program("pg_ctl") is None:
        pytest.skip("PostgreSQL is not installed")
    with running_server() as server:
        yield server


@pytest.fixture
def postgresql_url(postgresql_server: PostgresServer) -> str:
    """URL of a new, empty database."""
    return postgresql_server.new_database(f"review_{next(_NUMBERS)}")


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
