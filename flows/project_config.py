"""The configuration of a project: ``agenthard.toml``, or ``[tool.agenthard]`` in pyproject.toml."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from agenthard.audit.decisions.suppressions import Suppression
from agenthard.flows.run_findings import did_you_mean
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.record import Record

FILE, SHARED = "agenthard.toml", "pyproject.toml"
MAX_CHARACTERS = 1 << 20
"""Longest configuration that is read."""
_PATHS = ("path", "runs", "policy", "out", "baseline", "checkout")


class ConfigError(AgentHardError):
    """The configuration of the project cannot be used; the message names the file and the key."""

    code = "AH807"
    remedy = "Correct agenthard.toml (or [tool.agenthard] in pyproject.toml) at the key that the message names."


class Checks(Record):
    """Which checks run."""

    select: tuple[str, ...] = ()
    """Checks, categories or components that run; empty = all."""
    ignore: tuple[str, ...] = ()
    """Checks, categories or components that do not run."""
    experimental: bool = False
    """Whether experimental checks run too."""


class ProjectConfig(Record):
    """What ``agenthard audit`` uses where the command line says nothing. Paths are relative to the file."""

    source: str | None = None
    """Name of the source."""
    path: str | None = None
    """Folder of the benchmark."""
    domains: tuple[str, ...] = ()
    """Subtasks or domains; empty = all."""
    runs: tuple[str, ...] = ()
    """Files or folders of model runs."""
    policy: str | None = None
    """Decision policy (YAML)."""
    checkout: str | None = None
    """Folder with the benchmark's own code."""
    out: str | None = None
    """Run folder."""
    baseline: str | None = None
    """Earlier run folder."""
    workers: int | None = Field(default=None, ge=1)
    """Processes."""
    checks: Checks = Checks()
    """Which checks run."""
    suppressions: tuple[Suppression, ...] = ()
    """Findings that do not count."""


def find_config(start: Path) -> tuple[Path, ProjectConfig] | None:
    """Read the configuration of a folder: its own, or the nearest of its parents up to the root of the repository.

    Returns:
        The file and the configuration, with paths that open from ``start``; None where there is none.

    Raises:
        ConfigError: it cannot be used.
    """
    for folder in _folders(start.resolve()):
        for name in (FILE, SHARED):
            table = _table(folder / name)
            if table is not None:
                return folder / name, _config(folder / name, table)
    return None


def _folders(start: Path) -> Iterator[Path]:
    """Yield a folder and its parents up to the root of the repository; outside of one, just the folder."""
    root = next((each for each in (start, *start.parents) if (each / ".git").exists()), start)
    for folder in (start, *start.parents):
        yield folder
        if folder == root:
            return


def _table(path: Path) -> Mapping[str, Any] | None:
    if not path.is_file():
        return None
    try:
        document = tomllib.loads(read_text(path, MAX_CHARACTERS))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.name == SHARED:  # a file of other tools: without a table of ours it does not concern us
            return None
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if path.name == FILE:
        return document
    found: Mapping[str, Any] | None = document.get("tool", {}).get("agenthard")
    return found


def _config(path: Path, table: Mapping[str, Any]) -> ProjectConfig:
    try:
        config = ProjectConfig.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_fault(error)}") from error
    base = path.parent
    return config.model_copy(
        update={name: _from(base, getattr(config, name)) for name in _PATHS if getattr(config, name)}
    )


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] != "extra_forbidden":
        return f"at {place or 'top level'}: {first['msg'].removeprefix('Value error, ')}"
    parts: dict[str, type[Record]] = {"checks": Checks, "suppressions": Suppression}
    record = parts.get(str(first["loc"][0]), ProjectConfig)
    return f"unknown key {place!r}{did_you_mean(str(first['loc'][-1]), record.model_fields)}"


def _from(base: Path, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """Return paths as they open from the current folder."""
    if isinstance(value, tuple):
        return tuple(str(_from(base, each)) for each in value)
    path, here = base / value, Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
