"""Clusters of two real worker processes, with and without a Prefect server, and workers that are killed."""

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.scale_out.runners import MissingExtraError, task_runner
from agenthard.flows.scale_out.settings import ScaleOut
from tests.flows.scale_out.library import audit, contents, write_library

pytestmark = pytest.mark.long


def children(of: int) -> Iterator[tuple[int, str]]:
    """All processes below one, with their command lines."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = (int(status[1]), (folder / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
    below = {of}
    while new := {pid for pid, (parent, _) in parents.items() if parent in below} - below:
        below |= new
    return ((pid, parents[pid][1]) for pid in sorted(below - {of}) if pid in parents)


@contextmanager
def killing(out: Path, chosen: Callable[[str], bool], shards: int) -> Iterator[list[int]]:
    """Kill one of the processes below this one whose command line is chosen, whenever some more shards are finished."""
    killed, over, finished = list[int](), threading.Event(), out / "work" / "shards"

    def kill() -> None:
        while not over.wait(0.05):
            done = len(list(finished.glob("0*.zip"))) if finished.is_dir() else 0
            found = [pid for pid, line in children(os.getpid()) if chosen(line)] if done > shards * len(killed) else []
            if found:
                killed.append(found[len(killed) % len(found)])
                with suppress(ProcessLookupError):
                    os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


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
    with killing(tmp_path / "many", lambda line: re.search(worker, line) is not None, 8) as killed:
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
    with killing(tmp_path / "run", lambda line: "check_process" in line, 4) as killed:
        audit(benchmark, tmp_path / "run", workers=2, runner="prefect")
    assert killed
    assert contents(tmp_path / "run") == expected


@pytest.mark.parametrize("runner", ["dask", "ray"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, runner: str) -> None:
    monkeypatch.setitem(sys.modules, f"prefect_{runner}", None)
    monkeypatch.setitem(sys.modules, f"prefect_{runner}.task_runners", None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'agenthard\[{runner}\]'"):
        task_runner(ScaleOut(runner=runner), 2)
