"""Where the records of a suite are in its files: for origins of tasks, and for what is set aside."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.suite.suite import Suites
from agenthard.taxonomy.record import Origin


def origins_of(places: Mapping[str, tuple[str, str]], index: int, lines: bool) -> dict[str, Origin]:
    """Return where the parts of a task are in a suite.

    Args:
        places: part of the task → the file, and the pointer into the record there.
        index: Position of the record in the suite, from 0.
        lines: True in JSON lines, where the record has a line of each file. In Parquet it has a row, and pointers are
            into the file as the list of what its column ``record`` holds.
    """
    if lines:
        return {part: Origin(file=file, line=index + 1, pointer=at) for part, (file, at) in places.items()}
    return {part: Origin(file=file, pointer=f"/{index}{at}") for part, (file, at) in places.items()}


def set_aside(
    quarantine: Quarantine,
    suites: Suites[Any, Any],
    base: Path,
    suite: Path,
    index: int,
    reason: str,
    id: str | None,
    part: str,
) -> None:
    """Set a record of a suite aside.

    Args:
        quarantine: Receives it.
        suites: The layout.
        base: Folder that names of files are relative to.
        suite: Folder of the suite.
        index: Position of the record, from 0.
        reason: What is wrong with it, and what to do.
        id: Id of its task.
        part: Part of the suite that cannot be read; empty for the public one.
    """
    kind = suites.read_head(suite)["kind"]
    file = (suite / f"{part or suites.layout.public.name}.{kind}").relative_to(base).as_posix()
    if kind == "jsonl":
        quarantine.add(file, reason, line=index + 1, task_id=id)
    else:
        quarantine.add(file, reason, pointer=f"/{index}", task_id=id)


def no_runs(path: Path, title: str) -> str:
    """Say that a benchmark defines no file of runs, and what can be read instead."""
    return (
        f"{path}: {title} has no run files of its own; give a score table with the columns model, task_id, score "
        "(.csv or .parquet), or native JSON Lines (docs/sources/native.md)"
    )
