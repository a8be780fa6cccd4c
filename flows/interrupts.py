"""Ends of a command that nobody asks it about: SIGTERM and SIGHUP are Ctrl-C, and Prefect's server dies with us."""

import atexit
import os
import signal
import subprocess
from types import FrameType
from typing import Any

_WATCH = 'trap "" INT TERM HUP; read word && exit; kill "$1" 2>/dev/null; sleep 3; kill -9 "$1" 2>/dev/null'
"""Waits for a word on its input, which says that all is well. An input that ends without one: the command is dead."""


def interrupt_on_termination() -> None:
    """Let SIGTERM and SIGHUP interrupt the command as Ctrl-C does, so that it stops its processes and says so.

    A signal that whoever started us has ignored, as ``nohup`` does, stays ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def stop_server_with_us() -> None:
    """Make each temporary server that Prefect starts end with this process, even if it is killed."""
    from prefect.server.api.server import SubprocessASGIServer

    start = SubprocessASGIServer._run_uvicorn_command
    if start.__module__ == __name__:
        return

    def started(server: SubprocessASGIServer) -> "subprocess.Popen[Any]":
        process = start(server)
        end_with_us(process.pid)
        return process

    SubprocessASGIServer._run_uvicorn_command = started  # type: ignore[method-assign, assignment]


def end_with_us(pid: int) -> None:
    """End a process of ours as soon as this process is dead; one that ends by itself until then is left alone."""
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "sh", str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    parent = os.getpid()

    def all_is_well() -> None:
        # Functions run at exit in reverse order: by now Prefect has stopped its server.
        if os.getpid() == parent:
            watcher.communicate(b"ended\n")

    atexit.register(all_is_well)
