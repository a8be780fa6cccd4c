"""Audits whose shards go to the workers of a cluster: bytes, results that are there, damaged ones, lost workers."""

import json
import logging
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.scale_out import dispatch
from agenthard.flows.scale_out.work_store import WorkStore
from tests.flows.scale_out.library import audit, contents

SHARDS = 12


def results(store: Path) -> list[Path]:
    return sorted(store.glob("*/results/*.zip"))


def test_a_cluster_writes_the_same_bytes_and_leaves_nothing_in_the_run_folder(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    audit(benchmark, out, runner="dask", address=dask_cluster)
    assert contents(out) == expected
    assert results(out / "work" / "store") == []
    costs = [json.loads(path.read_bytes()) for path in sorted((out / "work" / "costs").iterdir())]
    assert [cost["tasks"] for cost in costs] == [5] * SHARDS


def test_results_in_a_store_are_not_made_again(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    audit(benchmark, tmp_path / "first", runner="dask", address=dask_cluster, store=str(store))
    made = {path: path.stat().st_mtime_ns for path in results(store)}
    assert len(made) == SHARDS and not list(store.glob("*/jobs/*"))
    audit(benchmark, tmp_path / "second", runner="dask", address=dask_cluster, store=store.as_uri())
    assert {path: path.stat().st_mtime_ns for path in results(store)} == made
    assert contents(tmp_path / "second") == expected


def test_workers_check_only_what_a_file_of_results_by_content_lacks(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path
) -> None:
    reuse, where = tmp_path / "results.sqlite", {"runner": "dask", "address": dask_cluster}
    assert audit(benchmark, tmp_path / "first", reuse=str(reuse), **where).reused == 0
    assert contents(tmp_path / "first") == expected
    with sqlite3.connect(reuse) as results:
        results.execute("DELETE FROM results WHERE task_id IN (SELECT task_id FROM results ORDER BY task_id LIMIT 7)")
    store = tmp_path / "store"
    again = audit(benchmark, tmp_path / "second", reuse=str(reuse), store=str(store), **where)
    assert again.reused == again.tasks - 7
    assert contents(tmp_path / "second") == expected
    assert not [path for path in store.rglob("*") if path.is_file()]
    assert audit(benchmark, tmp_path / "here", reuse=str(reuse)).reused == again.tasks, "the file serves all runners"
    assert contents(tmp_path / "here") == expected


def test_damaged_and_foreign_results_are_checked_again_with_a_message(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "store"
    where = {"runner": "dask", "address": dask_cluster, "store": str(store)}
    audit(benchmark, tmp_path / "first", **where)
    good = results(store)
    good[1].write_bytes(good[1].read_bytes()[:-100])
    good[2].write_bytes(good[3].read_bytes())
    good[4].write_bytes(b"")
    good[5].write_bytes(b"cos\nsystem\n(S'true'\ntR.")  # a pickle
    logging.getLogger("agenthard").propagate = True
    with caplog.at_level(logging.WARNING):
        audit(benchmark, tmp_path / "second", **where)
    assert contents(tmp_path / "second") == expected
    every = [record.getMessage() for record in caplog.records if "is checked again" in record.getMessage()]
    said = list(dict.fromkeys(every))  # Dask's logging can hand a record to the handler of the test twice
    assert [text.split()[2] for text in said] == ["1", "2", "4", "5"]
    assert "it is the result of another shard" in said[1] and "damaged: BadZipFile" in said[3]


def test_only_a_window_of_shards_is_in_the_store(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 0
    submit = dispatch.Workers.submit

    def counted(self: Any, *words: Any) -> Any:
        nonlocal most
        most = max(most, len(list((tmp_path / "store").glob("*/jobs/*"))))
        return submit(self, *words)

    monkeypatch.setattr(dispatch.Workers, "submit", counted)
    audit(benchmark, tmp_path / "run", runner="dask", address=dask_cluster, store=str(tmp_path / "store"))
    assert most == dispatch.IN_FLIGHT * 2
    assert contents(tmp_path / "run") == expected


def test_several_shards_are_one_task_where_there_are_many(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    submit = dispatch.Workers.submit

    def noted(self: Any, what: str, *words: Any) -> Any:
        sent.append(what)
        return submit(self, what, *words)

    monkeypatch.setattr(dispatch.Workers, "submit", noted)
    monkeypatch.setattr(dispatch, "MOST_TASKS", 3)
    audit(benchmark, tmp_path / "run", runner="dask", address=dask_cluster)
    assert sent == ["check shards 0 to 3", "check shards 4 to 7", "check shards 8 to 11"]
    assert contents(tmp_path / "run") == expected


def test_an_interrupted_audit_goes_on_and_other_runners_go_on_too(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, collected = tmp_path / "run", []

    def stop(*words: Any) -> None:
        if len(collected) == 3:
            raise KeyboardInterrupt
        collected.append(words)
        unpack(*words)

    unpack = dispatch.unpack
    monkeypatch.setattr(dispatch, "unpack", stop)
    with pytest.raises(KeyboardInterrupt):
        audit(benchmark, out, runner="dask", address=dask_cluster)
    monkeypatch.undo()
    finished = {path: path.stat().st_mtime_ns for path in (out / "work" / "shards").iterdir()}
    assert len(finished) == 3
    audit(benchmark, out)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert contents(out) == expected


def test_a_shard_that_ends_its_process_is_named_after_three_attempts(
    benchmark: Path, dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "check_shards", die_at_shard_2)
    with pytest.raises(InfrastructureError, match=r"shard 2 \(5 tasks, lib/10 to lib/14\) .* in 3 attempts") as caught:
        audit(benchmark, tmp_path / "run", runner="dask", address=dask_cluster)
    assert "exit code" in str(caught.value)
    assert not RunFolder(tmp_path / "run").shard_file(2).is_file()


def die_at_shard_2(store: str, audit: str, numbers: list[int]) -> int:
    from agenthard.flows.scale_out.check_process import LostProcessError
    from agenthard.flows.scale_out.worker import check_shards

    if 2 in numbers:
        raise LostProcessError("the process ended with exit code -9")
    return check_shards(store, audit, numbers)


def test_a_worker_with_other_code_ends_the_audit_at_once(
    benchmark: Path, dask_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agenthard.flows.scale_out.surroundings import Surroundings

    here = Surroundings.here
    monkeypatch.setattr(
        Surroundings, "here", lambda *words: here(*words).model_copy(update={"package": "0.0.9"}), raising=True
    )
    with pytest.raises(InfrastructureError, match="another version of AgentHard: .* instead of 0.0.9"):
        audit(benchmark, tmp_path / "run", runner="dask", address=dask_cluster)


def test_an_address_without_a_cluster_is_named(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        with pytest.raises(InfrastructureError, match="no dask cluster answers at tcp://127.0.0.1:9"):
            audit(benchmark, tmp_path / "run", runner="dask", address="tcp://127.0.0.1:9")


def test_an_s3_bucket_is_a_store(
    benchmark: Path, expected: dict[str, bytes], dask_cluster: str, s3: str, tmp_path: Path
) -> None:
    where = {"runner": "dask", "address": dask_cluster, "store": s3}
    audit(benchmark, tmp_path / "run", **where)
    assert contents(tmp_path / "run") == expected
    audit(benchmark, tmp_path / "again", **where)
    assert contents(tmp_path / "again") == expected
    missing = {**where, "store": "s3://no-such-bucket/runs"}
    with pytest.raises(InfrastructureError, match="s3://no-such-bucket/runs: no such bucket"):
        audit(benchmark, tmp_path / "missing", **missing)
    assert WorkStore(s3).get("nothing") is None and not os.path.exists("audits")
