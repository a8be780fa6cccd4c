"""Prompts and checks of verdicts on the workers of a cluster: bytes of one process, one ledger, lost workers."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.errors import CommandError, InfrastructureError
from agenthard.flows.judging import remote
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.run import run_judging
from agenthard.flows.judging.settings import JudgingSettings
from tests.flows.judging.made import audit, curious, judging, model, panel, verdict, write_benchmark
from tests.flows.scale_out.killing import killing
from tests.loopback import Loopback

pytestmark = pytest.mark.usefixtures("keys")


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of an audit of forty cases."""
    folder = tmp_path_factory.mktemp("judged")
    return audit(write_benchmark(folder / "library", 40), folder / "run")


def asked(audited: Path, out: Path, loopback: Loopback, runner: str, **options: Any) -> JudgingSettings:
    """A panel that looks things up, asks twice, and puts flaws to a defence."""
    judges = [{"model": model("chat", loopback.url), "samples": 2, "investigates": True}]
    where = {"runner": runner, "address": options.pop("address", None)}
    return judging(audited, out, panel(judges, rebuttal=True), workers=2, scale_out=where, **options)


def outputs(out: Path) -> dict[str, Any]:
    """Everything a reader gets."""
    files = (path for path in out.rglob("*") if path.is_file() and not path.name.partition(".")[2].startswith("sqlite"))
    found: dict[str, Any] = {path.relative_to(out).as_posix(): path.read_bytes() for path in files}
    return {name: content for name, content in found.items() if name != "checksums.json" and "work/" not in name}


def same(one: Path, other: Path) -> None:
    """Compare the outputs of two judgings."""
    first, second = outputs(one), outputs(other)
    assert first.keys() == second.keys() and len(first) > 10
    assert [name for name in first if first[name] != second[name]] == []


def test_a_cluster_gives_the_bytes_of_one_process(
    audited: Path, loopback: Loopback, dask_cluster: str, tmp_path: Path
) -> None:
    loopback.service.brain = curious
    one = run_judging(asked(audited, tmp_path / "one", loopback, "local"))
    sent = loopback.counts["received"]
    many = run_judging(asked(audited, tmp_path / "many", loopback, "dask", address=dask_cluster))
    assert loopback.counts["received"] == 2 * sent
    assert one.panels == many.panels and one.panels["flawed"] == 1
    same(tmp_path / "one", tmp_path / "many")


@pytest.mark.long
@pytest.mark.parametrize(
    ("runner", "worker"), [("prefect", "job_worker"), ("dask", "spawn_main"), ("ray", "^ray::worker")]
)
def test_the_jobs_of_killed_workers_are_taken_over_and_nothing_is_asked_twice(
    loopback: Loopback, tmp_path: Path, runner: str, worker: str
) -> None:
    loopback.service.brain, loopback.service.latency = curious, 0.02
    audited = audit(write_benchmark(tmp_path / "library", 60), tmp_path / "run")
    run_judging(asked(audited, tmp_path / "one", loopback, "local", in_flight=4))
    sent = loopback.counts["received"]
    many = tmp_path / "many"
    with killing(lambda: answered(many), lambda line: re.search(worker, line) is not None, 25) as killed:
        run_judging(asked(audited, many, loopback, runner, in_flight=4))
    assert len(killed) >= 2
    same(tmp_path / "one", many)
    assert loopback.counts["received"] == 2 * sent


def answered(out: Path) -> int:
    """Count the stored answers."""
    try:
        with sqlite3.connect(f"file:{out / 'judge' / 'questions.sqlite'}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


def test_a_worker_with_other_code_or_another_audit_ends_the_judging(
    audited: Path, loopback: Loopback, dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback.service.brain = verdict
    with monkeypatch.context() as patch:
        patch.setattr(AuditInputs, "key", lambda self: "another")
        with pytest.raises(InfrastructureError, match="a worker has another audit at "):
            run_judging(asked(audited, tmp_path / "one", loopback, "dask", address=dask_cluster))
    monkeypatch.setattr(remote, "_code", lambda: "other")
    with pytest.raises(InfrastructureError, match="a worker has another version of AgentHard, or other code"):
        run_judging(asked(audited, tmp_path / "two", loopback, "dask", address=dask_cluster))
    assert loopback.counts["received"] == 0


def test_an_address_without_a_cluster_is_refused(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--runner local has none; add --runner dask"):
        run_judging(asked(audited, tmp_path / "out", loopback, "local", address="tcp://127.0.0.1:1"))
