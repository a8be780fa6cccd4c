"""Files beside the rows: answers with the same ids, and values that all tasks share."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.mapping.data import read_value_file
from agenthard.audit.sources.mapping.infer.files import Group, common_key
from agenthard.audit.sources.mapping.infer.looks import is_prose, is_tools

_MANY = 5000
"""Rows by which keys are compared."""
_MAX_BYTES = 64 << 20
_ANSWERS = ("answer", "gold", "label", "solution", "truth", "reference")
_SHARED = (
    ("environment.tools", ("*tools*.json", "*functions*.json", "*apis*.json"), is_tools),
    ("environment.policy", ("policy.*", "*policy*.md", "wiki.*", "system*.txt", "system*.md"), is_prose),
    ("environment.state", ("db.json", "database.json", "state.json"), lambda value: isinstance(value, dict)),
)


@dataclass(frozen=True)
class Partner:
    """Rows of other files that belong to the rows."""

    name: str
    """Column under which they are put."""
    group: Group
    """Their files."""
    key: str
    """Column with the common key."""


def partner_of(group: Group, others: list[Group]) -> Partner | None:
    """Find rows with the same keys, in files of the same name or ones called answers.

    Args:
        group: the files of the tasks.
        others: other groups of files below the same folder.
    """
    rows = group.sample(_MANY)
    for other in sorted(others, key=lambda item: not _same_names(group, item)):
        paths = [path for path in other.paths if path.name in {own.name for own in group.paths}]
        called = [path for path in other.paths if any(word in str(path.relative_to(other.folder)) for word in _ANSWERS)]
        for chosen in (paths, called):
            if not chosen:
                continue
            part = Group(other.folder, tuple(chosen), other.rows, other.columns)
            key = common_key(rows, part.sample(_MANY)) if other.rows is None else None
            if key is not None:
                return Partner("answer" if "answer" not in group.columns else "joined", part, key)
    return None


def _same_names(group: Group, other: Group) -> bool:
    return bool({path.name for path in group.paths} & {path.name for path in other.paths})


def shared_values(group: Group) -> Iterator[tuple[str, str]]:
    """Yield keys of a mapping and files that hold their value for all tasks; only when all rows are in one folder."""
    folders = {path.parent for path in group.paths}
    if len(folders) != 1:
        return
    [folder] = folders
    for key, patterns, fits in _SHARED:
        found = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path not in group.paths]
        name = next((path for path in found if _fits(path, fits)), None)
        if name is not None:
            yield key, name.relative_to(group.folder).as_posix()


def _fits(path: Path, fits: Any) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return False
        return bool(fits(read_value_file(path.parent, path.name)))
    except SourceError:
        return False
