"""Finds the files with the rows of tasks: those with the same columns are a group."""

import glob
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from math import log2
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, SourceError, first_reasons
from agenthard.audit.sources.formats.files import open_binary
from agenthard.audit.sources.formats.promptfoo import is_promptfoo
from agenthard.audit.sources.formats.rows import is_array, row_files, row_format
from agenthard.audit.sources.formats.sqlite import is_sqlite, table_names
from agenthard.audit.sources.mapping.data import MappedRow, read_file, shallow
from agenthard.audit.sources.mapping.infer.columns import columns_of, is_messages, is_tools
from agenthard.audit.sources.mapping.infer.roles import choose
from agenthard.taxonomy.files import MAX_BYTES
from agenthard.taxonomy.pointer import join

SAMPLE_ROWS = 300
"""Rows that are read, over all files of a group."""
_LOOKED_AT = 50
"""Rows by which a group is compared with others."""
MAX_FILES = 300
"""Files below a folder that are opened."""
_ALIKE = 0.5
"""Share of common columns from which files are one group."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Group:
    """Files with the same columns."""

    folder: Path
    """Folder to which the files are relative."""
    paths: tuple[Path, ...]
    """The files, sorted."""
    rows: str | None
    """JSON Pointer of the rows in each, as in a mapping."""
    columns: frozenset[str]
    """Their columns, with numbers removed from the names."""

    @property
    def is_table(self) -> bool:
        """Whether a mapping can join them: rows of a table, and not inside a document."""
        return self.rows is None or is_sqlite(self.paths[0])

    def sample(self, limit: int = SAMPLE_ROWS) -> list[MappedRow]:
        """Return some rows, as evenly over the files as they allow."""
        each = max(1, limit // len(self.paths))
        found: list[MappedRow] = []
        for path in self.paths:
            found += islice(shallow(read_file(path, self.folder, self.rows, Quarantine(), "task"), Quarantine()), each)
        return found[:limit]

    def names(self) -> list[str]:
        """Return the files as a mapping names them: one pattern when they have one name in many folders."""
        listed = [glob.escape(path.relative_to(self.folder).as_posix()) for path in self.paths]
        if len(listed) > 1 and len({path.name for path in self.paths}) == 1:
            return [f"**/{glob.escape(self.paths[0].name)}"]
        return listed


def find_groups(path: Path) -> list[Group]:
    """Group the files of rows at a path by their columns, the most promising group first.

    Raises:
        SourceError: No file with rows.
    """
    folder = path.parent if path.is_file() else path
    groups: list[Group] = []
    found = _configurations(path) or sorted({*row_files(path), *_databases(path)})
    files = islice((file for file in found if not in_run_folder(file, folder)), MAX_FILES)
    unread = Quarantine()
    for group in (group for file in files for group in _alone(file, folder, unread)):
        same = next((i for i, other in enumerate(groups) if _alike(group, other)), None)
        if same is None:
            groups.append(group)
        else:
            known = groups[same]
            columns = known.columns | group.columns
            groups[same] = Group(folder, (*known.paths, *group.paths), known.rows, columns)
    if not groups:
        why = f" ({'; '.join(first_reasons(unread.items))})" if unread.items else ""
        raise SourceError(
            f"{path}: no rows here{why}; give a file or a folder of .jsonl, .json, .csv, .tsv, .parquet or .sqlite, or "
            "a promptfoo configuration"
        )
    return sorted(groups, key=lambda group: (-_promise(group), group.paths))


def in_run_folder(file: Path, folder: Path) -> bool:
    """Tell whether a file lies in what an audit has written."""
    inside = file.relative_to(folder).parents
    return any((folder / parent / "work" / "plan.json").is_file() for parent in inside)


def _configurations(path: Path) -> list[Path]:
    """Return the promptfoo configurations at a path, or in a folder; the files that they name are not rows then."""
    return [file for file in ([path] if path.is_file() else sorted(path.glob("*.y*ml"))) if is_promptfoo(file)]


def _databases(path: Path) -> list[Path]:
    """Return the SQLite files at a path, or in a folder."""
    return [file for file in ([path] if path.is_file() else sorted(path.glob("[!.]*"))) if is_sqlite(file)]


def _alone(file: Path, folder: Path, unread: Quarantine) -> list[Group]:
    """Return the rows of a file as a group, and why there are none; of a SQLite file each table is a group."""
    found = []
    for rows in table_names(file) if is_sqlite(file) else [rows_in(file)]:
        first = next(read_file(file, folder, rows, unread, "task"), None)
        if first is not None:
            columns = frozenset(_DIGITS.sub("#", key) for key in first.values if not key.startswith("_"))
            found.append(Group(folder, (file,), rows, columns))
    return found


def _alike(group: Group, other: Group) -> bool:
    common = len(group.columns & other.columns)
    return group.rows == other.rows and common >= _ALIKE * len(group.columns | other.columns)


def _promise(group: Group) -> float:
    """Rate how much a group looks like tasks: by what a user says, by calls, and by how many files agree."""
    columns, _ = columns_of([row.values for row in group.sample(_LOOKED_AT)])
    chosen = choose(columns)
    asked = chosen.get("user.turns")
    calls = 0.5 if "ground_truth.calls" in chosen else 0.0
    return (asked.named + calls + 0.1 * log2(len(group.paths))) if asked else -1.0


def rows_in(path: Path) -> str | None:
    """Return the JSON Pointer of the rows of a JSON document: None when the file holds rows and nothing else.

    A list of objects that is at least a third of the document holds its rows; without one the document is a row.
    """
    if row_format(path) != "json" or is_array(path):
        return None
    try:
        with open_binary(path) as stream:
            text = stream.read(MAX_BYTES)
        document = json.loads(text)
    except (OSError, EOFError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    lists = [
        (len(value), pointer, value)
        for pointer, value in _inside(document)
        if isinstance(value, list)
        and len(value) >= 2
        and all(isinstance(item, Mapping) for item in value)
        and not is_messages(value)
        and not is_tools(value)
        and not all(len(item) == 1 for item in value)
    ]
    for _, pointer, value in sorted(lists, key=lambda item: (-item[0], item[1])):
        if len(json.dumps(value)) > len(text) / 3:
            return pointer
    return ""


def _inside(document: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found = []
    for key, value in document.items():
        found.append((join("", key), value))
        if isinstance(value, Mapping):
            found += [(join("", key, inner), item) for inner, item in value.items()]
    return found
