"""Review servers on loopback, and clients of them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import httpx

from agenthard.flows.review.web.serve import ServeSettings, prepare

PEOPLE = {
    **{"ana": "admin", "rea": "reader"},
    **{name: "reviewer" for name in ("ben", "cleo", "dan", "eva", "finn", "gil", "hal")},
}
"""Users of the tests, with their roles."""


def token(name: str) -> str:
    return f"the-token-of-{name}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Served:
    """A server on loopback, and its address."""

    base: str
    """Address without a path."""

    def client(self, name: str, **options: Any) -> "Client":
        return Client(self, name, **options)


def users_file(home: Path) -> Path:
    """A file of all users of the tests."""
    users = home / "users.txt"
    users.write_text("".join(f"{name} {role} {token(name)}\n" for name, role in PEOPLE.items()), encoding="utf-8")
    users.chmod(0o600)
    return users


class Server(Served):
    """A server in a thread of this process: the imports of a process of its own take longer than most tests."""

    def __init__(self, settings: ServeSettings) -> None:
        self._opened = ExitStack()
        self._ready = prepare(settings, self._opened)
        self.greeting = self._ready.greeting[0]
        self.base = f"http://127.0.0.1:{self._ready.socket.getsockname()[1]}"
        self._thread = Thread(target=self._ready.server.run, kwargs={"sockets": [self._ready.socket]})
        self._thread.start()

    def stop(self) -> None:
        self._ready.server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        self._opened.close()


class Process(Served):
    """``agenthard review`` in a process of its own, which can be killed and started again."""

    def __init__(self, run: Path, home: Path, *options: str) -> None:
        port = free_port()
        self.base, self._home = f"http://127.0.0.1:{port}", home
        self._command = [sys.executable, "-m", "agenthard", "review", str(run), "--port", str(port), *options]
        self.greeting = self.start()

    def start(self) -> str:
        self._process = subprocess.Popen(
            self._command,
            env={**os.environ, "AGENTHARD_HOME": str(self._home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        greeting = self._process.stdout.readline()
        assert greeting.startswith(("review ", '{"url"')), greeting + self._process.stdout.read()
        return greeting

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Interrupt it as a person does, and return its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        code = self._process.wait(60)
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code


class Client:
    """A reviewer without a browser."""

    def __init__(self, server: Served, name: str, run: str = "demo") -> None:
        self.http = httpx.Client(base_url=server.base, headers={"origin": server.base}, timeout=60)
        self.run = run
        entered = self.http.post("/enter", data={"token": token(name)})
        assert (entered.status_code, entered.headers["location"]) == (303, "/"), entered.text
        found = re.search(r'"csrf":"(\w+)"', self.page("queue"))
        assert found
        self.http.headers["x-csrf-token"] = found.group(1)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def page(self, page: str, /, **query: str) -> str:
        found = self.http.get(f"/runs/{self.run}/{page}", params=query)
        assert found.status_code == 200, found.text
        return found.text

    def data(self, page: str, /, **query: str) -> dict[str, Any]:
        """The plain data of a page."""
        embedded = re.search(
            r'<script type="application/json" id="data">(.*?)</script>', self.page(page, **query), re.S
        )
        assert embedded
        found: dict[str, Any] = json.loads(embedded.group(1))
        return found

    def send(self, *events: dict[str, Any]) -> httpx.Response:
        return self.http.post(f"/runs/{self.run}/events", json=list(events))

    def stored(self, *events: dict[str, Any]) -> list[dict[str, Any]]:
        answer = self.send(*events)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["stored"]
        return found


def event(kind: str, target_id: str, identity: str = "", **data: Any) -> dict[str, Any]:
    target = "task" if "/" in target_id else "finding"
    return {"id": identity or str(uuid4()), "kind": kind, "target": target, "target_id": target_id, "data": data}


def verdict(task_id: str, flaw: str = "no", **data: Any) -> dict[str, Any]:
    return event("verdict", task_id, flaw=flaw, **data)


def undo(of: dict[str, Any]) -> dict[str, Any]:
    return event("undo", of["target_id"], event=of["id"])
