"""A schedule on a real Prefect server, run by a real worker: what is audited, who is told, who approves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from aiosmtpd.controller import Controller

from agenthard.flows.demo import write_demo
from agenthard.flows.scheduling.series import SeriesFolder
from tests.flows.review.web.served import free_port
from tests.flows.scheduling.sinks import MailSink, WebhookSink

pytestmark = pytest.mark.long
PATIENCE = 240.0


class PrefectServer:
    """``prefect server start`` with a home of its own, and commands that use it."""

    def __init__(self, home: Path) -> None:
        self.address = f"http://127.0.0.1:{free_port()}"
        own = {
            "PREFECT_HOME": str(home),
            "PREFECT_API_URL": f"{self.address}/api",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        }
        self.environment = {**os.environ, **own, "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
        self._started: list[subprocess.Popen[bytes]] = []
        self.http = httpx.Client(base_url=f"{self.address}/api", timeout=30)
        self.start("-m", "prefect", "server", "start", "--port", self.address.rpartition(":")[2])
        until(self._is_up, "the server answers")

    def _is_up(self) -> bool:
        try:
            return self.http.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    def start(self, *words: str, cwd: Path | None = None) -> None:
        made = subprocess.Popen(
            [sys.executable, *words],
            env=self.environment,
            cwd=cwd,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._started.append(made)

    def run(self, *words: str, cwd: Path) -> str:
        done = subprocess.run(
            [sys.executable, *words], env=self.environment, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def flow_runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.http.post("/flow_runs/filter", json={"sort": "START_TIME_ASC"}).json()
        return found

    def answer(self, run: UUID | str, **values: Any) -> None:
        """Resume a paused flow run with typed input, as the form of the UI does."""
        answered = self.http.post(f"/flow_runs/{run}/resume", json={"run_input": values})
        assert answered.status_code in (200, 201), answered.text
        assert answered.json()["status"] == "ACCEPT", answered.text

    def stop(self) -> None:
        for process in reversed(self._started):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.http.close()


def until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.5)
    raise AssertionError(f"waited in vain until {what}")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PrefectServer]:
    made = PrefectServer(tmp_path / "prefect")
    yield made
    made.stop()


@pytest.fixture
def mail() -> Iterator[MailSink]:
    sink = MailSink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    sink.port = controller.port
    yield sink
    controller.stop()


@pytest.fixture
def webhook() -> Iterator[WebhookSink]:
    with WebhookSink() as sink:
        yield sink


def completed(server: PrefectServer) -> list[dict[str, Any]]:
    return [run for run in server.flow_runs() if run["state_type"] == "COMPLETED"]


def waits_for_a_person(server: PrefectServer) -> dict[str, Any] | None:
    return next((run for run in server.flow_runs() if run["state_type"] == "PAUSED"), None)


def edit(tasks: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    rows = [json.loads(line) for line in tasks.read_text(encoding="utf-8").splitlines()]
    tasks.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in change(rows)), encoding="utf-8")


def test_three_audits_of_a_changing_benchmark(
    server: PrefectServer, mail: MailSink, webhook: WebhookSink, tmp_path: Path
) -> None:
    benchmark, series = tmp_path / "benchmark", SeriesFolder(tmp_path / "audits")
    write_demo(benchmark)
    config = tmp_path / "schedule.yaml"
    config.write_text(
        f"""
name: nightly
source: native
origin: {{path: benchmark}}
folder: audits
cron: "* * * * *"
publish: {{split: clean, wait_seconds: 600}}
notify:
  - {{kind: webhook, url: "{webhook.address}"}}
  - {{kind: email, to: [team@example.org], host: 127.0.0.1, port: {mail.port}}}
""",
        encoding="utf-8",
    )
    server.run("-m", "prefect", "work-pool", "create", "audits", "--type", "process", cwd=tmp_path)
    told = server.run("-m", "agenthard", "schedule", "deploy", str(config), "--pool", "audits", "--json", cwd=tmp_path)
    deployment = server.http.get(f"/deployments/{json.loads(told)['deployment']}").json()
    assert [each["schedule"]["cron"] for each in deployment["schedules"]] == ["* * * * *"]
    elsewhere = tmp_path / "worker"
    elsewhere.mkdir()
    server.start("-m", "prefect", "worker", "start", "--pool", "audits", cwd=elsewhere)

    # The first audit: everything is new, and a person is asked before anything is published.
    paused = until(lambda: waits_for_a_person(server), "the first audit asks a person")
    first = series.history[-1]
    assert first.difference is not None and first.difference.checked == first.difference.tasks == 60
    assert len(first.difference.new) > 10 and series.published is None and series.pending is not None
    assert "waits for approval" in webhook.texts[0] and "60 tasks" in mail.texts[0]
    server.answer(paused["id"], approve=True, by="ana", reason="looked at all of them")
    until(lambda: completed(server), "the first audit ends")
    published = series.published
    assert published is not None and (published.by, published.split_id) == ("ana", first.difference.split_now)
    artifacts = server.http.post("/artifacts/latest/filter", json={}).json()
    assert {"agenthard-difference-nightly", "agenthard-audit-nightly"} <= {each["key"] for each in artifacts}

    # The second: a call has an argument too many, a dialogue is repaired, a task is gone.
    def planted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        by_id = {row["id"]: row for row in rows}
        del by_id["library/20"]
        by_id["library/0"]["ground_truth"]["turns"][0][0]["arguments"]["colour"] = "red"
        by_id["parcels/7"]["user"]["turns"] = by_id["parcels/7"]["user"]["turns"][:2]
        return list(by_id.values())

    edit(benchmark / "tasks.jsonl", planted)
    paused = until(
        lambda: (run := waits_for_a_person(server)) and run["id"] != paused["id"] and run, "the second audit asks"
    )
    second = series.last_audit
    assert second is not None and second.difference is not None
    found = second.difference
    assert (found.tasks, found.checked, found.removed) == (59, 2, ("library/20",))
    assert set(found.changed) == {"library/0", "parcels/7"}
    assert ["call-schema"] == [each.check for each in found.new]
    assert ["turn-count"] == [each.check for each in found.fixed if "parcels/7" in each.tasks]
    assert {task for each in (*found.new, *found.fixed) for task in each.tasks} == {"library/0", "parcels/7"}, found
    assert series.published == published  # nothing changes before the answer
    server.answer(paused["id"], approve=False, by="ben", reason="not yet")
    until(lambda: series.pending is None, "the answer arrives")
    assert series.published == published

    # The third: nothing has changed, so nothing is checked and nobody is told.
    messages = len(webhook.texts)
    until(lambda: series.history[-1].number > second.number, "the third audit")
    assert series.history[-1].run is None and series.history[-1].failure == ""
    assert len(webhook.texts) == messages == len(mail.texts)
    page = (series.root / "index.html").read_text(encoding="utf-8")
    assert "nothing changed" in page and f'href="{second.run}/report.html"' in page


def test_deployments_of_the_repository(server: PrefectServer, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    shutil.copy(root / "prefect.yaml", tmp_path)
    server.run("-m", "prefect", "work-pool", "create", "audits", "--type", "process", cwd=tmp_path)
    server.run("-m", "prefect", "--no-prompt", "deploy", "--all", cwd=tmp_path)
    found = server.http.post("/deployments/filter", json={}).json()
    assert {each["name"] for each in found} == {"nightly", "audit", "run"}
    assert all(each["parameter_openapi_schema"]["required"] for each in found)
