"""Prefect's settings for a tool that runs anywhere. Imported before prefect itself."""

import atexit
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

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
