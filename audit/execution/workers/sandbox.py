"""The contained host of one benchmark, from outside: started, asked for workers, and removed at the end."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.workers.channel import CLOSED, Channel, ChannelClosedError, waiting
from agenthard.audit.execution.workers.isolation import WeakIsolationError, WorkerLimits
from agenthard.containment.isolation import Isolation, refusal, switched_off
from agenthard.containment.programs import LAUNCHER

INSIDE = Path(__file__).resolve().parent / "inside"
START_SECONDS = 60.0
HOST_SECONDS = 10.0
MESSAGE_BYTES = 4096
ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PATH": "", "PYTHONHASHSEED": "0", "TZ": "UTC"}
"""All environment variables of a worker; its answers depend on no others."""


class Sandbox:
    """A host inside all layers of isolation; the launcher of `containment` and ``inside/host.py`` run in it."""

    def __init__(
        self,
        python: Path,
        script: Path,
        limits: WorkerLimits,
        arguments: Sequence[str] = (),
        *,
        weak_isolation: bool = False,
        probe: bool = False,
    ) -> None:
        """Start it.

        Args:
            python: interpreter of the benchmark.
            script: file with ``setup()``.
            limits: what its processes may use.
            arguments: what ``setup`` is called with.
            weak_isolation: run the script although layers are missing.
            probe: only find out which layers there are.

        Raises:
            UnavailableError: when it cannot be started, or this machine lacks a layer and that was not allowed.
        """
        if sys.platform != "linux":
            raise UnavailableError("benchmark code runs on Linux only: elsewhere it could not be contained")
        if not os.access(python, os.X_OK):
            raise UnavailableError(f"{python} cannot be run: no such program; remove the environment, create it")
        self._folder = Path(tempfile.mkdtemp(prefix="agenthard-")).resolve()
        self._log = tempfile.TemporaryFile()
        self._pending: int | None = None
        self._weak_isolation = weak_isolation
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._launcher: subprocess.Popen[bytes] | None = None
        self.isolation = Isolation()
        try:
            with theirs:
                order = {**self._order(theirs.fileno(), python, script, limits, arguments), "probe": probe}
                self._launcher = subprocess.Popen(
                    [sys.executable, "-I", "-S", LAUNCHER, json.dumps(order)],
                    stdin=subprocess.DEVNULL,
                    stdout=self._log,
                    stderr=self._log,
                    env=ENVIRONMENT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            self.isolation = Isolation.model_validate(self._receive("isolation", START_SECONDS))
            if not probe:
                self._wait_until_ready()
        except (ChannelClosedError, ValueError, OSError) as error:
            reason = self._last_log_line() or str(error)
            self.close()
            raise UnavailableError(f"{script.name} cannot be run by {python}: {reason}") from None
        except BaseException:
            self.close()
            raise

    def _order(
        self, control: int, python: Path, script: Path, limits: WorkerLimits, arguments: Sequence[str]
    ) -> dict[str, Any]:
        home = self._folder / "home"
        home.mkdir()
        program = Path(os.path.realpath(python.parent)) / python.name
        given = limits.model_dump_json()
        host = [INSIDE / "host.py", str(control), script.resolve(), home, given, *arguments]
        return {
            "control": control,
            "command": list(map(str, [program, "-s", "-P", "-B", *host])),
            "environment": ENVIRONMENT,
            "folder": str(self._folder),
            "home": str(home),
            "needed": _needed(program, script.resolve(), arguments),
            "limits": limits.model_dump(),
            "off": switched_off(),
            "weak": self._weak_isolation,
        }

    def _wait_until_ready(self) -> None:
        """Wait until the benchmark is imported; the launcher has reported before anything of it ran."""
        reason = refusal(self.isolation, weak_isolation=self._weak_isolation)
        if reason:
            raise WeakIsolationError(reason)
        self._receive("ready", START_SECONDS)

    def _last_log_line(self) -> str:
        if self._launcher is not None:
            with suppress(subprocess.TimeoutExpired):
                self._launcher.wait(1)
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", errors="replace").strip().splitlines()
        said = lines[-1][:500] if lines else ""
        if "Permission denied" in said and os.geteuid() == 0:
            said += "; benchmark code runs as an unprivileged user, who must be able to read it (chmod -R o+rX FOLDER)"
        return said

    def fork(self) -> Channel:
        """Start a worker, and return the channel to it. If the host is gone, the first answer says so."""
        ours, theirs = socket.socketpair()
        with theirs, suppress(OSError):
            socket.send_fds(self._control, [b"fork"], [theirs.fileno()])
        return Channel(ours)

    def end_worker(self) -> None:
        """Kill the worker that was forked last.

        Raises:
            ChannelClosedError: when the host is gone.
        """
        pid = self._number("pid")
        if self._pending is None:
            raise ChannelClosedError(CLOSED)
        with suppress(OSError):
            signal.pidfd_send_signal(self._pending, signal.SIGKILL)
        try:
            self._control.send(str(pid).encode())
        except OSError:
            raise ChannelClosedError(CLOSED) from None

    def status(self) -> int:
        """Return how the worker that was killed last ended: its exit code, or minus the signal.

        Raises:
            ChannelClosedError: when the host is gone.
        """
        return self._number("status")

    def close(self) -> None:
        """End everything, and remove the folder."""
        self._control.close()
        self._keep(None)
        if self._launcher is not None:
            if self.isolation.missing:  # no namespace may end what the host leaves, so the launcher has to
                with suppress(subprocess.TimeoutExpired):
                    self._launcher.wait(HOST_SECONDS)
            self._launcher.kill()
            self._launcher.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _keep(self, handle: int | None) -> None:
        if self._pending is not None:
            os.close(self._pending)
        self._pending = handle

    def _number(self, what: str) -> int:
        number = self._receive(what, HOST_SECONDS)
        if not isinstance(number, int):
            raise ChannelClosedError("its host sent what cannot be understood")
        return number

    def _receive(self, what: str, seconds: float) -> Any:
        """Return the next message of a kind from inside; other messages are skipped."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if time.monotonic() > deadline:
                    raise TimeoutError
                self._control.settimeout(max(deadline - time.monotonic(), 0.001))
                with waiting():
                    text, handles, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
            except TimeoutError:
                raise ChannelClosedError(f"it gave no answer within {seconds:g} s") from None
            except OSError:
                raise ChannelClosedError(CLOSED) from None
            if handles:
                self._keep(handles[0])
            if not text:
                raise ChannelClosedError(CLOSED)
            try:
                message = json.loads(text)
            except (ValueError, RecursionError):
                raise ChannelClosedError("its host sent what cannot be understood") from None
            if isinstance(message, dict) and what in message:
                return message[what]


def why_not_contained(*, weak_isolation: bool = False) -> str | None:
    """Return why no benchmark code is executed on this machine; None when it is.

    Args:
        weak_isolation: whether the user accepted that layers are missing.
    """
    if weak_isolation:
        return None
    return refusal(_on_this_machine(tuple(switched_off())))


@cache
def _on_this_machine(_off: tuple[str, ...]) -> Isolation:
    probe = Sandbox(Path(sys.executable), INSIDE / "host.py", WorkerLimits(), probe=True)
    probe.close()
    return probe.isolation


def _needed(program: Path, script: Path, arguments: Sequence[str]) -> list[str]:
    """List the folders that a host has to reach: its interpreter, the scripts, and folders among its arguments."""
    real = Path(os.path.realpath(program))
    folders = [program.parent.parent, real.parent.parent, INSIDE, script.parent]
    folders += [Path(argument) for argument in arguments if argument.startswith("/")]
    if real == Path(os.path.realpath(sys.executable)):
        folders += map(Path, sys.path)
    return sorted({os.path.realpath(folder) for folder in folders if folder.is_absolute() and folder.is_dir()})
