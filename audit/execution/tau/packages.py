"""The packages that τ²-bench's domains import, installed for ``--checkout`` next to AgentHard's own.

``src/tau2`` as a whole needs the clients of many models. Its domains need little: pydantic, PyYAML and numpy, which
AgentHard has itself, and the few packages pinned here. All are pure Python, so that one hash each suffices, and the
folder they are installed into comes last on the import path of the worker: nothing in it can replace a module of ours.
"""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from platformdirs import user_data_path

from agenthard.audit.execution.checkout import python_files
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.sources.fetch import HOME_VARIABLE, FetchError, run_clean

BENCHMARK, VERSION = "tau2", "1"
"""Name of the environment, and the edition of the pins below."""
PINS = {
    "addict": ("2.4.0", "249bb56bbfd3cdc2a004ea0ff4c2b6ddc84d53bc2194761636eb314d5cfa5dfc"),
    "deepdiff": ("8.6.1", "ee8708a7f7d37fb273a541fa24ad010ed484192cd0c4ffc0fa0ed5e2d4b9e78b"),
    "docstring_parser": ("0.17.0", "cf2569abd23dce8099b300f9b4fa8191e9582dda731fd533daf54c4551658708"),
    "loguru": ("0.7.3", "31a33c10c8e1e10422bfd431aeb5d351c7cf7fa671e3c4df004162264b28220c"),
    "orderly-set": ("5.5.0", "46f0b801948e98f427b412fcabb831677194c05c3b699b80de260374baa0b1e7"),
    "python-dotenv": ("1.2.1", "b81ee9561e9ca4004139c6cbba3a238c32b03e4894671e181b671e8cb8425d61"),
    "toml": ("0.10.2", "806143ae5bfb6a3c6e736a764057db0e6a0e05e338b5630894a5f779cabb4f9b"),
}
"""Version and SHA-256 of the wheel, by package."""
_MODULES = ("addict", "deepdiff", "docstring_parser", "dotenv", "loguru", "toml")
_PARTS = ("src/tau2/data_model", "src/tau2/domains", "src/tau2/environment", "src/tau2/utils")


def folder(home: Path | None = None) -> Path:
    """Return the folder that the packages are installed into."""
    base = home or Path(os.environ.get(HOME_VARIABLE) or user_data_path("agenthard"))
    return base / "environments" / BENCHMARK / VERSION


def installed(home: Path | None = None) -> Path | None:
    """Return the folder if the packages are installed."""
    return folder(home) if folder(home).is_dir() else None


def install(home: Path | None = None) -> Path:
    """Install the packages; installed ones are left unchanged.

    Raises:
        UnavailableError: when pip cannot install them; nothing is left behind.
    """
    target = folder(home)
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        wanted = building / "requirements.txt"
        lines = (f"{name}=={version} --hash=sha256:{digest}\n" for name, (version, digest) in PINS.items())
        wanted.write_text("".join(lines), encoding="utf-8")
        pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
        pip += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", str(wanted)]
        advice = "check that pip reaches a package index (pip download --no-deps loguru==0.7.3)"
        run_clean([*pip, "--target", str(building / "site-packages")], building, "install τ²-bench's packages", advice)
        (building / "site-packages").rename(target)
    except FetchError as error:
        raise UnavailableError(str(error)) from error
    except OSError as error:
        raise UnavailableError(
            f"could not install into {target}: {error}; check that the folder can be written"
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return target


def remove(home: Path | None = None) -> None:
    """Remove the packages.

    Raises:
        UnavailableError: when a file cannot be removed.
    """
    try:
        shutil.rmtree(folder(home))
    except OSError as error:
        raise UnavailableError(f"{folder(home)} cannot be removed: {error}; remove the folder yourself") from error


@cache
def lacking(checkout: Path) -> tuple[str, ...]:
    """Name the modules that the domains of a checkout import and that are not installed."""
    if installed() is not None:
        return ()
    absent = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    texts = [path.read_text("utf-8", errors="replace") for part in _PARTS for path in python_files(checkout / part)]
    return tuple(
        name for name in absent if any(re.search(rf"^(import|from) {name}\b", text, re.MULTILINE) for text in texts)
    )
