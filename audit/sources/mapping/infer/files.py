"""Finds the files with the rows of tasks, and the files that belong to them: answers, tools, policies, states."""

import glob
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
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
from agenthard.audit.sources.mapping.data import MappedRow, read_file, read_value_file, shallow, without_key
from agenthard.audit.sources.mapping.infer.columns import columns_of, is_calls, is_messages, is_prose, is_tools
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
_COMMON = 0.5
"""Share of the keys that joined rows must have; some tasks of a benchmark may have no answer."""
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
    files = islice((file for file in found if not _in_run_folder(file, folder)), MAX_FILES)
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


def _in_run_folder(file: Path, folder: Path) -> bool:
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


def common_key(rows: list[MappedRow], others: list[MappedRow]) -> str | None:
    """Return the column by which other rows belong to some rows: unique in both, with nearly the same values."""
    for name in rows[0].values if rows and others else ():
        own = [row.values.get(name) for row in rows]
        theirs = [row.values.get(name) for row in others]
        if name.startswith("_") or not all(map(_is_key, own)):
            continue
        unique = max(Counter(map(str, own)).values()) == 1
        if unique and len({str(v) for v in own} & {str(v) for v in theirs}) >= _COMMON * len(own):
            return name
    return None


def _is_key(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and len(value) <= _LONGEST_KEY and "(" not in value)


_LONGEST_KEY = 100
_NEARLY = 0.9
"""Share of the rows of calls that must belong to a task."""
_MANY = 5000
"""Rows by which keys are compared."""
_MAX_BYTES = 64 << 20
_ANSWERS = ("answer", "gold", "label", "solution", "truth", "reference")


def _documents_tools(value: Any) -> bool:
    return is_tools(value) or (isinstance(value, Mapping) and is_tools(value.get("tools")))


_DOCUMENTS = ("*.json", "*.yaml", "*.yml", "*.py")
_SHARED = (
    ("environment.tools", ("*tools*.*", "*functions*.*", "*apis*.*", *_DOCUMENTS), _documents_tools),
    ("environment.policy", ("policy.*", "*policy*.md", "wiki.*", "system*.txt", "system*.md"), is_prose),
    ("environment.state", ("db.json", "database.json", "state.json"), lambda value: isinstance(value, dict)),
)
_TABLES = ("data", "db", "database", "state", "tables")
"""Folders whose tables are the state that tasks share."""


@dataclass(frozen=True)
class Partner:
    """Rows of other files that belong to the rows."""

    name: str
    """Column under which they are put."""
    group: Group
    """Their files."""
    key: str
    """Column with the key in these rows."""
    on: str
    """Column with the key in the rows of tasks."""
    many: bool = False
    """Whether several of them belong to one task."""


def partner_of(group: Group, others: list[Group]) -> Partner | None:
    """Find rows with the same keys, in files of the same name or ones called answers.

    Args:
        group: the files of the tasks.
        others: other groups of files below the same folder.
    """
    rows = group.sample(_MANY)
    for other in sorted(others, key=lambda item: not _same_names(group, item)):
        tables = other.rows is not None  # of a SQLite file, whose own name says nothing about them
        paths = [path for path in other.paths if not tables and path.name in {own.name for own in group.paths}]
        called = [path for path in other.paths if any(word in _name(path, other) for word in _ANSWERS)]
        for chosen in (paths, called):
            if not chosen:
                continue
            part = Group(other.folder, tuple(chosen), other.rows, other.columns)
            key = common_key(rows, part.sample(_MANY)) if other.is_table else None
            if key is not None:
                return Partner("answer" if "answer" not in group.columns else "joined", part, key, key)
    return next((found for other in others if (found := _calls_of(group, rows, other))), None)


def _name(path: Path, group: Group) -> str:
    table = group.rows or "" if group.is_table else ""
    return f"{path.relative_to(group.folder)} {table}".lower()


def _calls_of(group: Group, rows: list[MappedRow], other: Group) -> Partner | None:
    """Find rows of which each is one call, and several belong to one task; None for any others."""
    if not other.is_table or not rows:
        return None
    theirs = other.sample(_MANY)
    calls = [
        is_calls(without_key(row.values, None), ()) or any(map(_is_call_text, row.values.values())) for row in theirs
    ]
    if not theirs or sum(calls) < _COMMON * len(calls):
        return None
    for on in (name for name in rows[0].values if not name.startswith("_")):
        own = [row.values.get(on) for row in rows]
        if not all(map(_is_key, own)) or max(Counter(map(str, own)).values()) > 1:
            continue
        known = {str(value) for value in own}
        for key in (name for name in theirs[0].values if not name.startswith("_")):
            named = [str(row.values.get(key)) for row in theirs]
            if len(set(named)) < len(named) and sum(name in known for name in named) >= _NEARLY * len(named):
                stem = re.sub(r"\W+", "_", other.rows or other.paths[0].name.split(".")[0])
                return Partner(stem if stem not in group.columns else "joined", other, key, on, many=True)
    return None


def _is_call_text(value: Any) -> bool:
    return isinstance(value, str) and "(" in value and is_calls(value, ())


def _same_names(group: Group, other: Group) -> bool:
    return bool({path.name for path in group.paths} & {path.name for path in other.paths})


def shared_values(group: Group) -> Iterator[tuple[str, str]]:
    """Yield keys of a mapping and files that hold their value for all tasks; only when all rows are in one folder.

    The files are next to the rows or in folders next to them.
    """
    folders = {path.parent for path in group.paths}
    if len(folders) != 1:
        return
    [folder] = folders
    near = [
        folder,
        *sorted(each for each in folder.glob("[!.]*") if each.is_dir() and not _in_run_folder(each / "x", folder)),
    ]
    used: set[Path] = set(group.paths)
    for key, patterns, fits in _SHARED:
        found = [path for pattern in patterns for each in near for path in sorted(each.glob(pattern))]
        name = next((path for path in found if path not in used and _fits(path, fits)), None)
        if name is not None:
            used.add(name)
            together = name.suffix == ".py" and len(list(name.parent.glob("*.py"))) > 1
            yield key, (name.with_name("*.py") if together else name).relative_to(group.folder).as_posix()
    for each in near[1:]:
        tables = [path for path in sorted(each.glob("*.csv")) if path not in used]
        if each.name in _TABLES and tables:
            yield "environment.state", (each / "*.csv").relative_to(group.folder).as_posix()


def _fits(path: Path, fits: Any) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return False
        return bool(fits(read_value_file(path.parent, path.name)))
    except SourceError:
        return False
