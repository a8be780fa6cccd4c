"""Rows in memory as a benchmark: a data frame or a list of objects, with a mapping or the one that is inferred."""

import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.mapping.data import value_files
from agenthard.audit.sources.mapping.mapping import FILE_NAME, MappingFile, data_folder, load_mapping
from agenthard.audit.sources.mapping.source import MappingSource

if TYPE_CHECKING:
    import pandas

    Rows = pandas.DataFrame | Iterable[Mapping[str, Any]]
ROWS = "rows.jsonl"
"""File that the rows are written to; line n is row n."""


def open_rows(rows: "Rows", mapping: str | Path | Mapping[str, Any] | None = None) -> MappingSource:
    """Open rows in memory.

    The rows are written to a temporary folder, which is removed with the source; findings name ``rows.jsonl`` and the
    number of the row.

    Args:
        rows: a data frame, or objects by column.
        mapping: a mapping file, or its content as an object; its ``files`` and ``folder`` are replaced. None: the one
            that ``agenthard sources infer`` would propose.

    Raises:
        SourceError: when the mapping is wrong, or none can be inferred without problems.
    """
    folder = Path(tempfile.mkdtemp(prefix="agenthard-rows-"))
    try:
        _write_rows(rows, folder / ROWS)
        content = _content(mapping, folder)
        (folder / FILE_NAME).write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
        source = MappingSource(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    return source


def _write_rows(rows: "Rows", path: Path) -> None:
    to_json = getattr(rows, "to_json", None)
    if to_json is not None:
        to_json(path, orient="records", lines=True, force_ascii=False, date_format="iso", default_handler=str)
        return
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


def _content(mapping: str | Path | Mapping[str, Any] | None, folder: Path) -> dict[str, Any]:
    if mapping is None:
        from agenthard.audit.sources.mapping.infer import infer

        proposal = infer(folder / ROWS)
        if proposal.understood.problems:
            told = "; ".join(proposal.understood.problems)
            raise SourceError(f"no mapping can be inferred from the rows: {told}. Give one with mapping=")
        return {**proposal.mapping, "benchmark": "rows"}
    if isinstance(mapping, Mapping):
        return {"benchmark": "rows", **mapping, "files": ROWS, "folder": "."}
    known = load_mapping(Path(mapping))
    _copy_files(known, data_folder(Path(mapping), known), folder)
    content: dict[str, Any] = yaml.safe_load(Path(mapping).read_text(encoding="utf-8"))
    return {**content, "files": ROWS, "folder": "."}


def _copy_files(mapping: MappingFile, source: Path, target: Path) -> None:
    """Copy the files that a mapping names for values and joins."""
    named = [place.file for place in mapping.places().values() if place.file is not None]
    for name in (
        each
        for pattern in [*named, *(f for join in mapping.join for f in join.files)]
        for each in value_files(source, pattern)
    ):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source / name, target / name)
        except OSError as error:
            raise SourceError(
                f"{source / name}: the mapping names this file, and it cannot be read: {error}"
            ) from error
