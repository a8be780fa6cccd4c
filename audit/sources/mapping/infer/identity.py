"""Which column is the id of a task."""

from collections.abc import Sequence
from typing import Any

from agenthard.audit.sources.mapping.data import MappedRow
from agenthard.audit.sources.mapping.infer.columns import Column
from agenthard.audit.sources.mapping.infer.looks import is_scalar
from agenthard.audit.sources.mapping.infer.roles import name_fit

_NAMES = ("id", "task_id", "question_id", "example_id", "uuid", "instance_id", "idx", "index", "qid", "key", "name")
_LONGEST = 64


def named_id(columns: Sequence[Column], rows: Sequence[MappedRow]) -> str | None:
    """Return the path of an id that is called so and unique, if need be with the folder or the file before it.

    Args:
        columns: the columns.
        rows: all rows, without what is joined to them.
    """
    called = [column for column in _full(columns) if name_fit(column, _NAMES) > 0]
    for column in sorted(called, key=lambda item: -name_fit(item, _NAMES)):
        for above in ("", "_folder", "_stem"):
            if _unique(rows, column.keys[0], above):
                return f"join('/', [{above}, to_string({column.path})])" if above else column.path
    return None


def unnamed_id(columns: Sequence[Column], rows: Sequence[MappedRow]) -> str | None:
    """Return the path of a column of words or numbers that is unique in all rows."""
    words = [column for column in _full(columns) if all(_is_word(value) for value in column.values)]
    return next((column.path for column in words if _unique(rows, column.keys[0], "")), None)


def _full(columns: Sequence[Column]) -> list[Column]:
    return [c for c in columns if len(c.keys) == 1 and c.share == 1 and all(is_scalar(value) for value in c.values)]


def _is_word(value: Any) -> bool:
    if isinstance(value, (bool, float)) or len(str(value)) > _LONGEST:
        return False
    return len(str(value).split()) == 1


def _unique(rows: Sequence[MappedRow], name: str, above: str) -> bool:
    return len({(str(row.values.get(name)), row.values.get(above)) for row in rows}) == len(rows)
