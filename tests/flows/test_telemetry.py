"""Spans and metrics of an audit, as a collector receives them over HTTP."""

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SECRET = "sk-FAKE-0123456789"


class Collector(ThreadingHTTPServer):
    """A server that decodes what an exporter of OTLP sends."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.services: set[str] = set()
        self.bodies = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.bodies += body
        if self.path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.services |= {
                    each.value.string_value for each in group.resource.attributes if each.key == "service.name"
                }
                self.server.spans += [span for scope in group.scope_spans for span in scope.spans]
        else:
            assert self.path == "/v1/metrics"
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in group.scope_metrics:
                    self.server.metrics |= {metric.name: metric for metric in scope.metrics}
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()

    def log_message(self, *words: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def audit(benchmark: Path, out: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "agenthard", "audit", "native", str(benchmark), "--out", str(out)]
    given = {**os.environ, "OPENAI_API_KEY": SECRET, **environment}
    return subprocess.run(
        [*command, "--workers", "2", "--json"], env=given, capture_output=True, text=True, check=False
    )


def test_a_command_its_stages_and_shards_are_spans_of_one_trace(
    flawed_demo: Path, tmp_path: Path, collector: Collector
) -> None:
    done = audit(flawed_demo, tmp_path / "run", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert done.returncode == 1, done.stderr
    outcome = json.loads(done.stdout)
    (root,) = [span for span in collector.spans if not span.parent_span_id]
    assert root.name == "agenthard audit" and collector.services == {"agenthard"}
    assert {span.trace_id for span in collector.spans} == {root.trace_id}
    inner = [span for span in collector.spans if span is not root]
    assert {span.parent_span_id for span in inner} == {root.span_id}
    shards = [span for span in inner if span.name == "check-shard"]
    numbers = [each.value.int_value for span in shards for each in span.attributes if each.key == "agenthard.shard"]
    plan = json.loads((tmp_path / "run" / "work" / "plan.json").read_text())
    assert sorted(numbers) == list(range(len(plan["shard_ends"])))
    assert sorted(span.name for span in inner if span not in shards) == ["publish", "read"]
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in collector.spans)
    (checked,) = collector.metrics["agenthard.tasks.checked"].sum.data_points
    assert checked.as_int == outcome["tasks"] == 60
    found = {
        point.attributes[0].value.string_value: point.as_int
        for point in collector.metrics["agenthard.findings"].sum.data_points
    }
    assert found == outcome["findings"]
    # No text of the benchmark, of its folder or of the environment leaves this machine.
    for text in (SECRET, str(flawed_demo), "parcels/11"):
        assert text.encode() not in collector.bodies


def test_nothing_is_imported_or_sent_without_a_collector(flawed_demo: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from agenthard.flows.cli import main\n"
        "try:\n    main()\nfinally:\n    print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    words = ["audit", "native", str(flawed_demo), "--out", str(tmp_path / "run"), "--workers", "1"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_a_collector_that_does_not_answer_stops_nothing(flawed_demo: Path, tmp_path: Path) -> None:
    done = audit(flawed_demo, tmp_path / "run", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 1 and json.loads(done.stdout)["tasks"] == 60


def test_a_failed_stage_is_a_span_with_an_error(tmp_path: Path, collector: Collector) -> None:
    (tmp_path / "tasks.jsonl").write_text("{not json\n")
    done = audit(tmp_path, tmp_path / "run", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert done.returncode == 64, done.stderr
    assert {span.name: span.status.code for span in collector.spans} == {"agenthard audit": 2, "read": 2}
