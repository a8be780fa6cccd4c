"""Clusters of two real worker processes, with and without a Prefect server, and workers that are killed."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.scale_out.runners import MissingExtraError, task_runner
from agenthard.flows.scale_out.settings import ScaleOut
from tests.flows.scale_out.killing import killing
from tests.flows.scale_out.library import audit, contents, write_library

pytestmark = pytest.mark.long


def finished(out: Path) -> Callable[[], int]:
    """Count the finished shards of an audit."""
    return lambda: len(list((out / "work" / "shards").glob("0*.zip")))


@pytest.mark.parametrize("runner", ["dask", "ray"])
def test_two_worker_processes_write_the_bytes_of_one_thread(
    benchmark: Path, expected: dict[str, bytes], tmp_path: Path, runner: str
) -> None:
    audit(benchmark, tmp_path / "run", workers=2, runner=runner)
    assert contents(tmp_path / "run") == expected


@pytest.mark.parametrize(
    ("runner", "worker"),
    [("dask", "spawn_main"), ("dask", "check_process"), ("ray", "^ray::check"), ("ray", "check_process")],
)
def test_the_shards_of_killed_workers_are_taken_over(tmp_path: Path, runner: str, worker: str) -> None:
    """Workers of the cluster are killed, or the processes in which they check."""
    library = write_library(tmp_path / "library", 200)
    audit(library, tmp_path / "one")
    with killing(finished(tmp_path / "many"), lambda line: re.search(worker, line) is not None, 8) as killed:
        audit(library, tmp_path / "many", workers=2, runner=runner)
    assert len(killed) >= 3
    assert contents(tmp_path / "many") == contents(tmp_path / "one")


def test_a_prefect_server_records_the_tasks_of_every_runner(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path
) -> None:
    from prefect.client.orchestration import get_client
    from prefect.testing.utilities import prefect_test_harness

    places: dict[str, dict[str, Any]] = {
        "dask": {"address": dask_cluster, "store": str(tmp_path / "store")},
        "prefect": {"store": "memory://audits"},
    }
    with prefect_test_harness(server_startup_timeout=120):
        for runner, place in places.items():
            audit(benchmark, tmp_path / runner, workers=2, runner=runner, **place)
            assert contents(tmp_path / runner) == expected
        with get_client(sync_client=True) as client:
            flows = {(run.name, run.state_name) for run in client.read_flow_runs()}
            tasks = sorted(run.name for run in client.read_task_runs() if run.name.startswith("check shard"))
    assert flows == {("audit native", "Completed")}
    assert tasks == sorted(f"check shard {number}" for number in range(12)) * 2 or len(tasks) == 24
    import fsspec

    assert not fsspec.filesystem("memory").glob("audits/**")


def test_a_prefect_flow_without_a_server_checks_in_processes(
    benchmark: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    with killing(finished(tmp_path / "run"), lambda line: "check_process" in line, 4) as killed:
        audit(benchmark, tmp_path / "run", workers=2, runner="prefect")
    assert killed
    assert contents(tmp_path / "run") == expected


@pytest.mark.parametrize("runner", ["dask", "ray"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, runner: str) -> None:
    monkeypatch.setitem(sys.modules, f"prefect_{runner}", None)
    monkeypatch.setitem(sys.modules, f"prefect_{runner}.task_runners", None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'agenthard\[{runner}\]'"):
        task_runner(ScaleOut(runner=runner), 2)
