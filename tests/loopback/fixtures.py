"""Fixtures: `loopback` is a server in a thread, `loopback_process` one in a process of its own."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.app import KEY
from tests.loopback.server import START_SECONDS, Loopback, wait_for

ROOT = Path(__file__).parents[2]


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """A fresh server; a test changes `loopback.service` (brain, faults, latency, context, models)."""
    with Loopback() as server:
        yield server


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> str:
    """The environment holds the server's key under every name."""
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "COMPATIBLE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    return KEY


class LoopbackProcess:
    """A server that survives the death of its clients."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        """Starts it; the settings are those of `tests.loopback.app.change`."""
        port_file = folder / "port"
        port_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.loopback", "--port-file", str(port_file)]
        self._process = subprocess.Popen([*command, "--settings", json.dumps(settings)], cwd=ROOT)
        give_up = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError("the loopback server did not start")
            time.sleep(0.05)
        self.url = f"http://127.0.0.1:{port_file.read_text()}"
        self.openai_url = f"{self.url}/v1"
        wait_for(self.url)

    @property
    def counts(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/_/counts") as answer:
            return dict(json.load(answer))

    def change(self, **settings: Any) -> None:
        self._post("settings", settings)

    def reset(self) -> None:
        self._post("reset", {})

    def _post(self, path: str, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/_/{path}", data=data)).close()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def loopback_process(tmp_path: Path) -> Iterator[Callable[..., LoopbackProcess]]:
    """Starts servers: `loopback_process(brain="tests.loopback.brains:ace", faults={"chances": {"429": 0.1}})`."""
    started: list[LoopbackProcess] = []

    def start(**settings: Any) -> LoopbackProcess:
        folder = tmp_path / f"loopback{len(started)}"
        folder.mkdir()
        started.append(LoopbackProcess(folder, settings))
        return started[-1]

    yield start
    for server in started:
        server.stop()
