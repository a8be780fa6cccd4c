"""A review server in a process of its own, and clients of it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

PEOPLE = {"ana": "admin", "ben": "reviewer", "cleo": "reviewer", "rea": "reader"}
"""Users of the tests, with their roles."""


def token(name: str) -> str:
    return f"the-token-of-{name}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """``agenthard review`` on loopback."""

    def __init__(self, *runs: Path, home: Path, options: tuple[str, ...] = (), people: dict[str, str] = PEOPLE) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self._home = home
        users = home / "users.txt"
        users.write_text("".join(f"{name} {role} {token(name)}\n" for name, role in people.items()), encoding="utf-8")
        users.chmod(0o600)
        given = ["--users", str(users)] if people else []
        self._command = [
            *(sys.executable, "-m", "agenthard", "review", *map(str, runs)),
            *("--port", str(self.port), *given, *options),
        ]
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
        assert greeting.startswith("review "), greeting + self._process.stdout.read()
        return greeting

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Interrupt it as a person does, and return its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        code = self._process.wait(20)
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code

    def client(self, name: str, **options: Any) -> "Client":
        return Client(self, name, **options)


class Client:
    """A reviewer without a browser."""

    def __init__(self, server: Server, name: str, run: str = "demo") -> None:
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

    def page(self, page: str, **query: str) -> str:
        found = self.http.get(f"/runs/{self.run}/{page}", params=query)
        assert found.status_code == 200, found.text
        return found.text

    def data(self, page: str, **query: str) -> dict[str, Any]:
        """The plain data of a page."""
        embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page(page, **query), re.S)
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
