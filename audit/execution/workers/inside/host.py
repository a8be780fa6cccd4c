"""The process that workers are forked from. Runs under the benchmark's interpreter and must not import our package.

Usage: ``python host.py CONTROL SCRIPT FOLDER LIMITS [ARGUMENT ...]``. CONTROL is the number of an inherited Unix
socket that keeps messages apart, SCRIPT a file with a function ``setup``, which gets the ARGUMENTs, FOLDER the one
folder that can be written to, LIMITS the fields of ``WorkerLimits`` as JSON. The launcher has applied all layers of
isolation before this program started, so imports are contained as well.

The host calls ``setup``, which imports the benchmark and returns a function ``serve(request)``. The host itself
never sees benchmark data. For each worker it is sent a socket, forks, answers with a handle of the process
(``pidfd``), and the child reads requests from that socket, one JSON value a line; each value that ``serve`` yields
goes back as ``{"value": ...}``, then comes ``{"end": true}``. A list is several requests, answered one after the
other. An exception that leaves ``serve`` and a forbidden act end the child after ``{"failed": "why"}``. When the
control socket is closed, the host ends.
"""

import gc
import importlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

Serve = Callable[[Any], Iterable[Any]]

MESSAGE_BYTES = 4096
HELD_BYTES, HELD_SECONDS = 1 << 16, 0.05
"""How much of the answers to requests that came together is held back, and how long, to be sent at a time."""
LAZY_IMPORTS = ("_strptime", "encodings.idna", "linecache", "traceback")
"""Modules that Python imports at first use; a worker may not be able to read them any more."""


def load(path: Path) -> Any:
    """Import a Python file by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Host:
    """Forks workers and reports how they ended."""

    def __init__(self, control: socket.socket, serve: Serve, folder: str, limits: dict[str, Any]) -> None:
        self._control = control
        self._serve = serve
        self._folder = folder
        self._limits = limits
        self._watch = load(Path(__file__).with_name("watch.py"))
        self._homes: dict[int, str] = {}

    def run(self) -> None:
        """Serve requests until the other end of the control socket is closed."""
        with suppress(ConnectionError):  # closed before our last message was read
            self._tell({"ready": True})
            self._serve_requests()

    def _serve_requests(self) -> None:
        while True:
            message, handles, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
            if not message:
                return
            if handles:
                self._fork(handles[0])
            else:
                self._tell({"status": self._wait(int(message))})

    def _tell(self, message: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(message).encode())

    def _fork(self, channel: int) -> None:
        home = tempfile.mkdtemp(prefix="worker-", dir=self._folder)
        pid = os.fork()
        if pid == 0:
            try:
                self._become_worker(channel, home)
            finally:
                os._exit(1)
        os.close(channel)
        self._homes[pid] = home
        handle = os.pidfd_open(pid)
        socket.send_fds(self._control, [json.dumps({"pid": pid}).encode()], [handle])
        os.close(handle)

    def _wait(self, pid: int) -> int:
        """Return how a worker ended. A folder that cannot be removed ends the host: the next one has a new folder."""
        _, status = os.waitpid(pid, 0)
        if not removed(self._homes.pop(pid)):
            sys.exit(f"{self._folder} could not be cleared")
        return os.waitstatus_to_exitcode(status)

    def _become_worker(self, channel: int, home: str) -> None:
        self._control.close()
        limits = self._limits
        worker = Child(channel, self._serve, limits["cpu_seconds"])
        try:
            os.setsid()
            os.chdir(home)
            os.environ.update(HOME=home, TMPDIR=home)
            tempfile.tempdir = home
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            most = limits["process_cpu_seconds"]
            resource.setrlimit(resource.RLIMIT_CPU, (min(limits["cpu_seconds"], most), most))
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
            self._watch.watch(home, worker.stop)
        except (OSError, ValueError) as error:
            worker.fail(f"the worker could not be contained: {error}")
        worker.run()


def removed(folder: str) -> bool:
    """Remove the folder of a worker, whatever its permissions; return whether it is gone."""
    with suppress(OSError, RecursionError):
        os.chmod(folder, 0o700)
        for place, names, _ in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


class Child:
    """A forked worker that answers requests."""

    def __init__(self, channel: int, serve: Serve, cpu_seconds: int) -> None:
        self._channel = channel
        self._serve = serve
        self._cpu_seconds = cpu_seconds
        self._held = bytearray()
        self._sent = 0.0

    def run(self) -> None:
        """Answer requests until the channel is closed."""
        with open(self._channel, "rb", closefd=False) as lines:
            for line in lines:
                try:
                    request = json.loads(line)
                    together, self._sent = isinstance(request, list), time.monotonic()
                    for each in request if together else [request]:
                        self._answer(each, hold=together)
                    self._send()
                except SystemExit as error:
                    self.fail(f"it called exit ({error.code!r})")
                except MemoryError:
                    self.fail("it ran out of memory")
                except BaseException as error:
                    self.fail(f"{type(error).__name__}: {error}")

    def _answer(self, request: Any, *, hold: bool) -> None:
        self._renew()
        for value in self._serve(request):
            self._tell({"value": value}, hold=hold)
            self._renew()
        self._tell({"end": True}, hold=hold)

    def _renew(self) -> None:
        """Allow this process more processor time, up to its hard limit; beyond it the kernel ends the process."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = int(usage.ru_utime + usage.ru_stime) + 1
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (min(used + self._cpu_seconds, hard), hard))

    def stop(self, act: str) -> None:
        """End the process because of a forbidden act."""
        self.fail(f"it tried to {act}")

    def fail(self, reason: str) -> None:
        """Report why, and end the process at once."""
        try:
            self._tell({"failed": reason[:1000]})
        finally:
            os._exit(1)

    def _tell(self, message: dict[str, Any], *, hold: bool = False) -> None:
        self._held += json.dumps(message).encode() + b"\n"
        if not hold or len(self._held) > HELD_BYTES or time.monotonic() - self._sent > HELD_SECONDS:
            self._send()

    def _send(self) -> None:
        rest, self._held = memoryview(self._held), bytearray()
        while rest:
            rest = rest[os.write(self._channel, rest) :]
        self._sent = time.monotonic()


def main() -> None:
    """Start the host."""
    control, script, folder, limits, *arguments = sys.argv[1:]
    for name in LAZY_IMPORTS:
        importlib.import_module(name)
    os.environ["TMPDIR"] = tempfile.tempdir = folder  # nothing else can be written, by the script's imports either
    serve = load(Path(script)).setup(*arguments)
    gc.collect()
    gc.freeze()  # a collection in a forked process would copy every page of what was imported
    Host(socket.socket(fileno=int(control)), serve, folder, json.loads(limits)).run()


if __name__ == "__main__":
    main()
