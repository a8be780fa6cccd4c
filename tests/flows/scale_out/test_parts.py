"""Settings, stores, inputs and results of shards, each alone."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution.context import Execution
from agenthard.flows.audit_plan import AuditInput, make_plan
from agenthard.flows.errors import CommandError
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_spool import spool_name
from agenthard.flows.scale_out.check_process import CheckProcess, LostProcessError, RemoteCheckError
from agenthard.flows.scale_out.settings import ScaleOut
from agenthard.flows.scale_out.shard_check import check_stored_shard
from agenthard.flows.scale_out.shard_job import JobWriter, NotPlainJsonError, ShardName, audit_name, read_job
from agenthard.flows.scale_out.stored_result import UnusableResultError, pack, unpack
from agenthard.flows.scale_out.work_store import StoreError, WorkStore
from agenthard.flows.shard_worker import check_tasks
from tests.builders import make_task
from tests.flows.scale_out.library import settings_of


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runner": "local", "address": "tcp://127.0.0.1:1"}, "--runner local has none; add --runner dask"),
        ({"runner": "local", "store": "/mnt/shared"}, "--runner local has none"),
        ({"runner": "dask", "address": "tcp://10.0.0.5:8786"}, "may not see the run folder; add --store"),
        ({"runner": "dask", "store": "memory://x"}, "workers of --runner dask share no memory"),
        ({"runner": "ray", "store": "ftp://host/x"}, "not a known kind of store"),
        ({"runner": "ray", "store": "zip://a::s3://b"}, "not a known kind of store"),
        ({"runner": "ray", "store": "s3://name:key@host/x"}, "no user name or key in the URL"),
    ],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        ScaleOut(**options).check()


def test_options_that_can_work() -> None:
    ScaleOut().check()
    ScaleOut(runner="dask", address="tcp://127.0.0.1:8786").check()
    ScaleOut(runner="ray", address="ray://10.0.0.5:10001", store="s3://bucket/audits").check()
    ScaleOut(runner="prefect", store="memory://audits").check()


@pytest.mark.parametrize("kind", ["path", "file", "memory"])
def test_a_store_keeps_objects(kind: str, tmp_path: Path) -> None:
    url = {"path": str(tmp_path), "file": tmp_path.as_uri(), "memory": "memory://parts"}[kind]
    store = WorkStore(url)
    assert store.get("a/b") is None and not store.has("a/b")
    store.put("a/b", b"one")
    store.put("a/b", b"two")
    assert store.get("a/b") == b"two" and store.has("a/b")
    store.put("a/c", b"")
    store.remove("a/b")
    assert store.get("a/b") is None and store.get("a/c") == b""
    store.remove_folder("a")
    assert not store.has("a/c") and not list(tmp_path.rglob("*.partial"))


def planned(benchmark: Path, out: Path) -> tuple[AuditInput, ShardName, WorkStore]:
    """Write the input of the second shard."""
    given = AuditInput(settings_of(benchmark, out))
    folder = RunFolder(out)
    plan, store = make_plan(given, folder), WorkStore(str(out / "store"))
    JobWriter(store, given, plan, audit_name(plan)).write(1, folder.spool / spool_name(1))
    return given, ShardName(audit_name(plan), 1), store


def test_an_input_holds_tasks_runs_and_a_shared_environment_once(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = AuditInput(settings_of(benchmark, tmp_path)).tasks
    shared = [task.model_copy(update={"environment": read[0].environment}) for task in read]
    monkeypatch.setattr(AuditInput, "tasks", shared)
    given, name, store = planned(benchmark, tmp_path)
    job = read_job(store, name)
    assert list(job.tasks) == list(given.tasks[5:10])
    assert job.runs == RunFolder(tmp_path).runs(1)
    assert len({id(task.environment) for task in job.tasks}) == 1
    assert len(list((tmp_path / "store").rglob("environments/*"))) == 1
    assert (job.settings.path, job.settings.out, job.settings.runs) == ("", "", ())
    lines = gzip.decompress(store.get(name.job) or b"").splitlines()
    assert all(json.loads(line) for line in lines) and str(tmp_path).encode() not in b"".join(lines)


def test_a_damaged_input_is_named(benchmark: Path, tmp_path: Path) -> None:
    _, name, store = planned(benchmark, tmp_path)
    whole = store.get(name.job) or b""
    lines = gzip.decompress(whole).splitlines(keepends=True)
    foreign = b"".join([lines[0], b'[0,{"id":"x"}]\n', *lines[2:]])
    for data in (whole[:-20], b"", gzip.compress(b"".join(lines[:-1])), gzip.compress(b"{}"), gzip.compress(foreign)):
        store.put(name.job, data)
        with pytest.raises(StoreError, match="is damaged"):
            read_job(store, name)
    store.remove(name.job)
    with pytest.raises(StoreError, match="is not there"):
        read_job(store, name)


@pytest.mark.parametrize("value", [(1, 2), float("nan"), {1: 2}, "\ud800"])
def test_values_that_json_cannot_hold_are_noticed(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    given = AuditInput(settings_of(benchmark, tmp_path))
    plan = make_plan(given, RunFolder(tmp_path))
    odd = [make_task(task.id, metadata={"value": value}) for task in given.tasks]
    monkeypatch.setattr(AuditInput, "tasks", odd)
    with pytest.raises(NotPlainJsonError):
        JobWriter(WorkStore(str(tmp_path / "store")), given, plan, "audit").write(0, tmp_path / "none")


def test_a_result_counts_only_for_its_own_shard(benchmark: Path, tmp_path: Path) -> None:
    given, name, _ = planned(benchmark, tmp_path / "run")
    tasks, checks = given.tasks[5:10], given.settings.checks()
    data = pack(name, check_tasks(Execution(None, False), tasks, (), checks))
    ids, asked, folder = [task.id for task in tasks], [check.id for check in checks], RunFolder(tmp_path / "other")
    wrong: list[tuple[bytes, ShardName, list[str], list[str], str]] = [
        (data[: len(data) // 2], name, ids, asked, "damaged: BadZipFile"),
        (data, name._replace(number=2), ids, asked, "another shard"),
        (data, name._replace(audit="x"), ids, asked, "another shard"),
        (data, name, ids[1:], asked, "other tasks or checks"),
        (data, name, ids, asked[1:], "other tasks or checks"),
    ]
    for *words, message in wrong:
        with pytest.raises(UnusableResultError, match=message):
            unpack(*words, folder)  # type: ignore[arg-type]
    assert not folder.root.exists()
    unpack(data, name, ids, asked, folder)
    assert folder.shard_file(1).is_file() and folder.isolation_file(1).is_file()


def test_a_process_checks_shards_and_says_why_it_cannot(benchmark: Path, tmp_path: Path) -> None:
    _, name, store = planned(benchmark, tmp_path)
    process = CheckProcess()
    try:
        assert process.check(store.url, *name) == 5
        first = store.get(name.result)
        with pytest.raises(RemoteCheckError, match="is not there") as caught:
            process.check(store.url, name.audit, 7)
        assert caught.value.repeatable
        assert process._process is not None
        process._process.kill()
        with pytest.raises(LostProcessError, match="shard 1 ended"):
            for _ in range(2):  # the first request may find the process already gone, and start another one
                process.check(store.url, *name)
                process._process.kill()
        check_stored_shard(store.url, *name)
        assert first and store.get(name.result)
    finally:
        process.close()
