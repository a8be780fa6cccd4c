"""Managed virtual environments in which a benchmark's own code runs.

``audit.sources.fetch`` installs them, one per release, each from pinned requirements without their dependencies:
benchmark code imports few packages at run time, and its pins fit no other environment.

A task is executed by the release whose own data has the task's content hash. No release has the hash of an edited
task; the newest release of its data version executes it, and nothing is confirmed by that: a method
that was added or removed between releases would look like a wrong ground truth. Code of another data version executes
nothing.
"""

import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.execution.release_contents import ContentHashes, contents
from agenthard.audit.execution.tau import packages
from agenthard.audit.sources.fetch import Fetched, FetchError, benchmarks, fetch, fetched, known_releases
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask


class ManagedEnvironment(Record):
    """A virtual environment with a benchmark's code."""

    benchmark: str
    """Name of the source."""
    version: str
    """Release of the benchmark's package."""
    python: Path
    """Interpreter of the environment."""
    folder: Path
    """Where it is."""
    packages: dict[str, str] = Field(default_factory=dict)
    """Installed packages and their versions."""


def create(
    benchmark: str, version: str | None = None, home: Path | None = None, *, unpinned: bool = False
) -> ManagedEnvironment:
    """Create the environment of a benchmark; one that is there already is returned as it is.

    Args:
        benchmark: name of the source, such as bfcl.
        version: release; None means the one that the environment was written against.
        home: folder to keep environments in; None means the managed one.
        unpinned: install a release whose hash is not known here.

    Raises:
        UnavailableError: when it cannot be created; the message says what to do.
    """
    if benchmark == packages.BENCHMARK:
        if version not in (None, packages.VERSION):
            raise UnavailableError(f"{benchmark} {version} is not known; there is {benchmark} {packages.VERSION}")
        return _of_packages(packages.install(home))
    try:
        return _described(fetch(benchmark, version, home, unpinned=unpinned))
    except FetchError as error:
        raise UnavailableError(str(error)) from error


def existing(home: Path | None = None) -> list[ManagedEnvironment]:
    """List the environments that are there, by benchmark, oldest release first."""
    found = [_described(item) for benchmark in benchmarks() for item in fetched(benchmark, home)]
    folder = packages.installed(home)
    return found + ([_of_packages(folder)] if folder else [])


def pinned() -> dict[tuple[str, str], str]:
    """Return what can be created from files of known hashes, by benchmark and version, with the data that it holds."""
    releases = {(name, release.version): release.data for name in benchmarks() for release in known_releases(name)}
    return {**releases, (packages.BENCHMARK, packages.VERSION): "none: packages that a checkout imports"}


def create_command(benchmark: str, version: str) -> str:
    """Write the command that creates an environment."""
    return f"agenthard env create {benchmark} --version {version}"


def find(benchmark: str, version: str, home: Path | None = None) -> ManagedEnvironment:
    """Return an environment that is there.

    Raises:
        UnavailableError: when it is not there; the message names the command that creates it.
    """
    for found in fetched(benchmark, home):
        if found.version == version:
            return _described(found)
    raise UnavailableError(
        f"the code of {benchmark} {version} is not installed: run `{create_command(benchmark, version)}`"
    )


def remove(benchmark: str, version: str | None = None, home: Path | None = None) -> list[ManagedEnvironment]:
    """Remove the environments of a benchmark, its data included.

    Args:
        benchmark: name of the source.
        version: release; None means all.
        home: folder that environments are kept in; None means the managed one.

    Returns:
        What was removed.

    Raises:
        UnavailableError: when there is none to remove, or a file cannot be removed.
    """
    folder = packages.installed(home) if benchmark == packages.BENCHMARK else None
    if folder is not None and version in (None, packages.VERSION):
        gone = _of_packages(folder)
        packages.remove(home)
        return [gone]
    found = [item for item in fetched(benchmark, home) if version in (None, item.version)]
    if not found:
        wanted = f"{benchmark} {version}" if version else benchmark
        raise UnavailableError(f"no environment of {wanted}; `agenthard env list` shows those that are there")
    removed = [_described(item) for item in found]
    for item in found:
        try:
            shutil.rmtree(item.path)
        except OSError as error:
            raise UnavailableError(f"{item.path} cannot be removed: {error}; remove the folder yourself") from error
    return removed


def _of_packages(folder: Path) -> ManagedEnvironment:
    found = {item.name: item.version for item in distributions(path=[str(folder)])}
    return ManagedEnvironment(
        benchmark=packages.BENCHMARK,
        version=packages.VERSION,
        python=Path(sys.executable),
        folder=folder,
        packages=dict(sorted(found.items())),
    )


def _described(found: Fetched) -> ManagedEnvironment:
    folder = next(parent for parent in found.data.parents if parent.name == "site-packages")
    packages = {item.name: item.version for item in distributions(path=[str(folder)])}
    return ManagedEnvironment(
        benchmark=found.benchmark,
        version=found.version,
        python=found.python,
        folder=found.path,
        packages=dict(sorted(packages.items())),
    )


class ReleaseOfTask(NamedTuple):
    """The code that executes a task."""

    release: Fetched
    """The installed release."""
    changed: bool
    """Whether the release's own data has the task otherwise, or not at all."""


def release_of(task: AgentTask, content_hashes: ContentHashes) -> ReleaseOfTask:
    """Find the installed release that has a task; if several have the same task, the newest.

    An edited task, which is in none, is executed by the newest release of the same data version.
    Releases that are installed later, while the process runs, are found too.

    Args:
        task: the task.
        content_hashes: reads those of a release.

    Raises:
        UnavailableError: no installed release has the task or its data version; the message names the command that
            brings one.
    """
    installed = fetched(task.benchmark)
    data = (task.content_hash or "").partition(":")[0]
    versions = {each.version: each.data for each in known_releases(task.benchmark)}
    for item in reversed([each for each in installed if versions.get(each.version, data) == data]):
        if task.content_hash in contents(content_hashes, item):
            return ReleaseOfTask(item, changed=False)
    for item in reversed(installed):
        if versions.get(item.version) == data:
            return ReleaseOfTask(item, changed=True)
    raise UnavailableError(_no_code(task, [item.version for item in installed]))


def _no_code(task: AgentTask, installed: list[str]) -> str:
    """Return why a task is not executed, with equal texts for equal cases, because reports count equal reasons."""
    name = task.benchmark
    if task.content_hash is None:
        return f"the task does not tell which release of {name} it is of, so none of its code is run"
    there = f"installed: {', '.join(installed) or 'none'}"
    data = task.content_hash.partition(":")[0]
    missing = [each for each in known_releases(name) if each.data == data and each.version not in installed]
    if missing:
        command = create_command(name, missing[-1].version)
        return f"no code of this release (data {data}; {there}): `{command}` brings it"
    command = f"{create_command(name, 'RELEASE')} --unpinned"
    return (
        f"no code of this release (data {data}; {there}): the task's question, answer or documentation differs from "
        f"theirs; where it is of another release, `{command}` brings its code"
    )
