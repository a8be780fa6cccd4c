import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenthard.audit.sources.mapping import MappingSource

LEND = {
    "name": "lend_book",
    "description": "Lend a book.",
    "parameters": {
        "type": "dict",
        "properties": {"book_id": {"type": "int"}, "card": {"type": "str"}},
        "required": ["book_id"],
    },
}
ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "Lend me book 7.", "tools": [LEND], "gold": [{"lend_book": {"book_id": 7}}]},
    {"id": "b", "question": "Lend me book 8.", "tools": [LEND], "gold": [{"lend_book": {"book_id": 8}}]},
]
MAPPING: dict[str, Any] = {
    "benchmark": "library",
    "files": "tasks.jsonl",
    "id": "id",
    "user": {"turns": "question"},
    "environment": {"tools": "tools"},
    "ground_truth": {"calls": "gold"},
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write rows as JSON Lines (a text is a line as it is) and a mapping with the given keys replaced."""

    def _write(rows: list[Any] = ROWS, **changes: Any) -> Path:
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (tmp_path / "tasks.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        mapping = {key: value for key, value in {**MAPPING, **changes}.items() if value is not None}
        (tmp_path / "mapping.yaml").write_text(yaml.safe_dump(mapping), encoding="utf-8")
        return tmp_path

    return _write


@pytest.fixture
def open_mapping(write: Write) -> Callable[..., MappingSource]:
    """Open what ``write`` wrote."""
    return lambda *args, **changes: MappingSource(write(*args, **changes))
