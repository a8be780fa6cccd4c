"""A Docker engine for tests: what the SDK uses of its API, on a Unix socket; local processes carry commands out.

It removes, kills and streams as an engine does; it enforces no limit and no isolation, so tests read them in `created`.
"""

import json
import os
import re
import signal
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

IMAGE, IMAGE_ID = "tools:1", "sha256:" + "5e" * 32
SEARCHED = "/usr/local/bin:/usr/bin:/bin"


@dataclass
class Container:
    """One container: what was asked for, and the process that stands in for it."""

    id: str
    config: dict[str, Any]
    process: subprocess.Popen[bytes] | None = None
    code: int = 0
    attached: Callable[[int, bytes], None] = lambda stream, data: None
    started: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while it starts and while it is removed."""

    def start(self) -> None:
        """Run the command where the folder of this machine is that is mounted as its working folder."""
        host = self.config["HostConfig"]
        places = {mount["Target"]: mount["Source"] for mount in host["Mounts"]}
        user, _, group = self.config["User"].partition(":")
        command = [*self.config["Entrypoint"], *(self.config["Cmd"] or [])]
        variables = dict(pair.split("=", 1) for pair in [f"PATH={SEARCHED}", *self.config["Env"]])
        other: dict[str, Any] = {}
        if os.geteuid() == 0:
            other = {"user": int(user), "group": int(group), "extra_groups": []}
        with suppress(FileNotFoundError):
            self.process = subprocess.Popen(
                command,
                cwd=places[self.config["WorkingDir"]],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                **other,
            )
        threading.Thread(target=self._follow, args=(command[0],), daemon=True).start()
        self.started.set()

    def _follow(self, program: str) -> None:
        process = self.process
        if process is None:  # as the first process of an engine says it
            self.attached(2, f"[FATAL tini (7)] exec {program} failed: No such file or directory\n".encode())
            self.code = 127
        else:
            readers = [
                threading.Thread(target=self._pass_on, args=(number, pipe), daemon=True)
                for number, pipe in ((1, process.stdout), (2, process.stderr))
            ]
            for reader in readers:
                reader.start()
            process.wait()
            self.kill()  # a container ends with its first process
            for reader in readers:
                reader.join()
            self.code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        self.ended.set()

    def _pass_on(self, number: int, pipe: Any) -> None:
        while data := os.read(pipe.fileno(), 1 << 15):
            self.attached(number, data)

    def kill(self) -> None:
        """Kill every process."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


class FakeEngine(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The engine: its containers, and everything that was asked for."""

    daemon_threads = True

    def __init__(self, socket: Path) -> None:
        """Listen on a socket."""
        super().__init__(str(socket), _Handler)
        self.address = f"unix://{socket}"
        self.containers: dict[str, Container] = {}
        self.created: list[dict[str, Any]] = []
        self.removed: list[str] = []
        self.security = ["name=seccomp,profile=builtin", "name=cgroupns"]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that have gone."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def get_request(self) -> tuple[Any, Any]:
        """Accept a connection; a Unix socket has no address, which the handler expects."""
        connection, _ = super().get_request()
        return connection, ("local", 0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeEngine

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, method: str) -> None:
        split = urlsplit(self.path)
        path = re.sub(r"^/v1\.\d+", "", unquote(split.path))
        self.query = {name: values[0] for name, values in parse_qs(split.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.given = json.loads(body) if body else {}
        for wanted, pattern, work in ROUTES:
            if wanted == method and (found := re.fullmatch(pattern, path)):
                work(self, *found.groups())
                return
        self.send(501, {"message": f"the fake engine does not know {method} {path}"})

    def send(self, status: int, document: object = None) -> None:
        data = b"" if status == 204 else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def container(self, id: str) -> Container | None:
        found = self.server.containers.get(id)
        if found is None:
            self.send(404, {"message": f"No such container: {id}"})
        return found

    def ping(self) -> None:
        self.send(200, "OK")

    def version(self) -> None:
        self.send(200, {"Version": "27.0.0", "ApiVersion": "1.46", "MinAPIVersion": "1.24", "Os": "linux"})

    def info(self) -> None:
        self.send(200, {"OSType": "linux", "SecurityOptions": self.server.security})

    def image(self, name: str) -> None:
        if name in (IMAGE, IMAGE_ID):
            self.send(200, {"Id": IMAGE_ID, "RepoTags": [IMAGE], "Os": "linux", "Config": {}})
        else:
            self.send(404, {"message": f"No such image: {name}"})

    def create(self) -> None:
        if self.given["Image"] not in (IMAGE, IMAGE_ID):
            self.send(404, {"message": f"No such image: {self.given['Image']}"})
            return
        id = f"{len(self.server.created):064x}"
        self.server.created.append(self.given)
        self.server.containers[id] = Container(id, self.given)
        self.send(201, {"Id": id, "Warnings": []})

    def list(self) -> None:
        wanted = json.loads(self.query.get("filters", "{}")).get("label", [])
        rows = []
        for id, container in self.server.containers.items():
            labels = container.config.get("Labels") or {}
            running = container.started.is_set() and not container.ended.is_set()
            if all(f"{name}={value}" in wanted for name, value in labels.items()) and (running or "all" in self.query):
                rows.append({"Id": id, "Image": IMAGE, "Labels": labels})
        self.send(200, rows)

    def inspect(self, id: str) -> None:
        if container := self.container(id):
            state = {"Status": "exited" if container.ended.is_set() else "running", "ExitCode": container.code}
            config = {**container.config, "Tty": False}
            self.send(200, {"Id": id, "Image": IMAGE_ID, "Name": f"/{id[-6:]}", "State": state, "Config": config})

    def attach(self, id: str) -> None:
        container = self.container(id)
        if container is None:
            return
        self.send_response(101, "UPGRADED")
        self.send_header("Content-Type", "application/vnd.docker.multiplexed-stream")
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "tcp")
        self.end_headers()
        lock = threading.Lock()

        def write(number: int, data: bytes) -> None:
            with lock, suppress(OSError):
                self.wfile.write(struct.pack(">BxxxL", number, len(data)) + data)

        container.attached = write
        container.ended.wait()
        self.close_connection = True

    def start(self, id: str) -> None:
        if container := self.container(id):
            with container.lock:
                container.start()
            self.send(204)

    def wait(self, id: str) -> None:
        if container := self.container(id):
            container.ended.wait()
            self.send(200, {"StatusCode": container.code})

    def kill(self, id: str) -> None:
        container = self.container(id)
        if container is None:
            return
        if container.ended.is_set():
            self.send(409, {"message": f"container {id} is not running"})
        else:
            container.kill()
            self.send(204)

    def remove(self, id: str) -> None:
        container = self.container(id)
        if container is None:
            return
        with container.lock:
            if container.started.is_set() and not container.ended.is_set():
                if self.query.get("force") not in ("1", "True", "true"):
                    self.send(409, {"message": "stop the container before removing it, or force it"})
                    return
                container.kill()
                container.ended.wait()
            container.ended.set()
            del self.server.containers[id]
        self.server.removed.append(id)
        self.send(204)


ROUTES: tuple[tuple[str, str, Callable[..., None]], ...] = (
    ("GET", r"/_ping", _Handler.ping),
    ("GET", r"/version", _Handler.version),
    ("GET", r"/info", _Handler.info),
    ("GET", r"/images/(.+)/json", _Handler.image),
    ("POST", r"/containers/create", _Handler.create),
    ("GET", r"/containers/json", _Handler.list),
    ("GET", r"/containers/(\w+)/json", _Handler.inspect),
    ("POST", r"/containers/(\w+)/attach", _Handler.attach),
    ("POST", r"/containers/(\w+)/start", _Handler.start),
    ("POST", r"/containers/(\w+)/wait", _Handler.wait),
    ("POST", r"/containers/(\w+)/kill", _Handler.kill),
    ("DELETE", r"/containers/(\w+)", _Handler.remove),
)


@contextmanager
def fake_engine(folder: Path) -> Iterator[FakeEngine]:
    """Serve on a socket in a folder; a socket's path must be short."""
    engine = FakeEngine(folder / "engine.sock")
    thread = threading.Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield engine
    finally:
        for container in list(engine.containers.values()):
            container.kill()
            container.ended.set()
        engine.shutdown()
        engine.server_close()
        thread.join()
