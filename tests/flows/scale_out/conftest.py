"""A benchmark, the outputs that one thread writes for it, a Dask cluster in this process, and an S3 server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows import audit_plan
from tests.flows.scale_out.library import audit, contents, write_library


@pytest.fixture(scope="session")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("scale") / "library", 60)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve shards of five tasks."""
    monkeypatch.setattr(audit_plan, "SHARD_TASKS_WITH_RUNS", 5)


@pytest.fixture(scope="session")
def expected(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Outputs of one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "SHARD_TASKS_WITH_RUNS", 5)
        out = tmp_path_factory.mktemp("expected") / "run"
        audit(benchmark, out)
    return contents(out)


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[str]:
    """The address of a Dask cluster whose two workers are threads of this process."""
    from distributed import LocalCluster

    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**options, protocol="tcp://", host="127.0.0.1") as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty bucket on an S3 server of this machine."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        boto3.client("s3").create_bucket(Bucket="audits")
        yield "s3://audits/runs"
    server.stop()
