"""What belongs to the rows of tasks: rows of other files with the same keys, and files with a value for all tasks."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.mapping.data import MappedRow, read_value_file, without_key
from agenthard.audit.sources.mapping.infer.columns import is_calls, is_prose, is_tools
from agenthard.audit.sources.mapping.infer.files import Group, in_run_folder

_COMMON = 0.5
"""Share of the keys that joined rows must have; some tasks of a benchmark may have no answer."""


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
        *sorted(each for each in folder.glob("[!.]*") if each.is_dir() and not in_run_folder(each / "x", folder)),
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
