"""The files of a suite: what ``suite.json`` says, and the records of both parts."""

import json
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.suite import suite_parquet
from agenthard.audit.sources.formats.suite.layout import Kind, Layout
from agenthard.audit.sources.formats.suite.malformed_suite import MalformedInstanceError
from agenthard.taxonomy.files import write_text

HEAD = "suite.json"
"""File that makes a folder a suite."""


def parts(layout: Layout[Any, Any], folder: Path, kind: Kind) -> tuple[Path, Path]:
    """Returns the files of the public and of the private part.

    Args:
        layout: The layout of the benchmark's suites.
        folder: Folder of the suite.
        kind: JSON lines or Parquet.

    Returns:
        Both paths.
    """
    return folder / f"{layout.public.name}.{kind}", folder / f"{layout.private.name}.{kind}"


def read_head(layout: Layout[Any, Any], folder: Path) -> dict[str, Any]:
    """Reads what a suite says of itself.

    Args:
        layout: The layout of the benchmark's suites.
        folder: The folder.

    Returns:
        The content of ``suite.json``; ``kind`` is one of the two, ``instances`` a number or None.

    Raises:
        MalformedInstanceError: The folder holds no suite that this version can read.
    """
    try:
        head = load_document(folder / HEAD)
    except (OSError, ValueError, RecursionError) as error:
        raise MalformedInstanceError(f"{folder.name} holds no suite: {HEAD} cannot be read ({error})") from error
    if (
        not isinstance(head, dict)
        or head.get("format") != layout.format
        or head.get("kind") not in ("jsonl", "parquet")
    ):
        raise MalformedInstanceError(f"{folder.name} holds no suite of the format {layout.format}")
    if head.get("schema_version") != layout.version:
        raise MalformedInstanceError(
            f"{folder.name} has schema version {head.get('schema_version')}, this reads {layout.version}"
        )
    if not isinstance(head.setdefault("instances", None), int | None):
        raise MalformedInstanceError(f"{folder.name} announces {head['instances']!r} instances, which is not a number")
    return head


def write_head(
    layout: Layout[Any, Any],
    folder: Path,
    kind: Kind,
    count: int | None,
    parameters: Mapping[str, Any] | None,
    **more: Any,
) -> None:
    """Writes ``suite.json``, all of it or nothing.

    Args:
        layout: The layout of the benchmark's suites.
        folder: The folder.
        kind: JSON lines or Parquet.
        count: How many instances the suite has when it is finished.
        parameters: What it was asked to be.
        more: Further entries.

    Raises:
        OSError: It cannot be written.
    """
    head = {"format": layout.format, "schema_version": layout.version, "kind": kind, "instances": count}
    write_text(folder / HEAD, json.dumps(head | {"parameters": parameters} | more, indent=2) + "\n")


def records(layout: Layout[Any, Any], folder: Path, part: str) -> Iterator[bytes]:
    """Reads the records of one part, one at a time.

    Args:
        layout: The layout of the benchmark's suites.
        folder: Folder of the suite.
        part: Name of one of the two parts.

    Yields:
        JSON with a line break; it lacks where the file was cut off.

    Raises:
        MalformedInstanceError: The folder holds no suite, or the file is absent or damaged.
        OSError: It cannot be read.
    """
    kind = read_head(layout, folder)["kind"]
    path = folder / f"{part}.{kind}"
    if not path.exists():
        raise MalformedInstanceError(f"{folder.name} has no {path.name}")
    if kind == "parquet":
        yield from suite_parquet.records(path)
        return
    with path.open("rb") as lines:
        yield from lines


def write_part(layout: Layout[Any, Any], folder: Path, out: Path, keep: Set[int]) -> list[Path]:
    """Writes some instances of a suite as a suite of their own, every record in the bytes it has.

    Args:
        layout: The layout of the benchmark's suites.
        folder: Folder of the suite.
        out: Folder to write; it is made if need be.
        keep: Positions of the instances to keep, from 0.

    Returns:
        The files written; ``suite.json`` says what it said and, under ``split``, how many were kept of how many.

    Raises:
        MalformedInstanceError: The folder holds no suite.
        OSError: A file cannot be read or written.
    """
    head = read_head(layout, folder)
    kind: Kind = head["kind"]
    targets = parts(layout, out, kind)
    out.mkdir(parents=True, exist_ok=True)
    total = 0
    for part, source, target in zip(layout.parts, parts(layout, folder, kind), targets, strict=True):
        if kind == "parquet":
            total = suite_parquet.copy_rows(source, target, keep)
            continue
        with target.open("wb") as file:
            for total, line in enumerate(records(layout, folder, part.name), start=1):  # noqa: B007
                if total - 1 in keep:
                    file.write(line.removesuffix(b"\n") + b"\n")
    write_head(layout, out, kind, len(keep), head.get("parameters"), split={"kept": len(keep), "of": total})
    return [out / HEAD, *targets]
