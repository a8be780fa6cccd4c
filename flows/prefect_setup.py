"""Prefect's settings for a tool that runs anywhere. Imported before prefect itself."""

import atexit
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agenthard.flows.process import protect_children

DEFAULTS = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
}

protect_children()
for _name, _value in DEFAULTS.items():
    os.environ.setdefault(_name, _value)

# A logging configuration can name any function, and Prefect takes the place of one from files of the current folder
# (.env, prefect.toml, pyproject.toml). A variable comes before those, so Prefect's own configuration is named in one.
_prefect = find_spec("prefect")
if _prefect and _prefect.origin and "PREFECT_LOGGING_SETTINGS_PATH" not in os.environ:
    _own = Path(_prefect.origin).parent / "logging" / "logging.yml"
    os.environ.setdefault("PREFECT_LOGGING_CONFIG_PATH", str(_own))


def _use_writable_home() -> None:
    """Keep Prefect's files in a temporary folder where its own cannot be written: no home, or a read-only one."""
    try:
        home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            return
    except (OSError, RuntimeError):
        folder = tempfile.mkdtemp(prefix="agenthard-prefect-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["PREFECT_HOME"] = folder


_use_writable_home()

_WATCH = 'trap "" INT TERM HUP; read word && exit; kill "$1" 2>/dev/null; sleep 3; kill -9 "$1" 2>/dev/null'
"""Waits for a word on its input, which says that all is well. An input that ends without one: the command is dead."""


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
    if os.name == "nt":  # no shell to watch with; Prefect stops its server when the command ends by itself
        return
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
