"""A small ComplexFuncBench, written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.sources.audited import write

FUNCTIONS = [
    {
        "name": "find_inns",
        "description": "Find inns of a town.",
        "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
    },
    {
        "name": "book_inn",
        "description": "Book a room for a number of nights.",
        "parameters": {
            "type": "object",
            "properties": {"inn_id": {"type": "string"}, "nights": {"type": "integer"}},
            "required": ["inn_id", "nights"],
        },
    },
]

INNS = [{"inn_id": "inn_77012", "price": 40}, {"inn_id": "inn_50000", "price": 90}]


def record(task_id: str, nights: Any = 3, booked: str = "inn_77012") -> dict[str, Any]:
    """Find an inn and book it; ``booked`` is the inn that the recorded response is about."""
    return {
        "id": task_id,
        "conversations": [
            {"role": "user", "content": f"I am {task_id}. Book the cheapest inn in Oldham for 3 nights."},
            {"role": "assistant", "function_call": [{"name": "find_inns", "arguments": {"town": "Oldham"}}]},
            {"role": "observation", "content": [{"status": True, "data": INNS}]},
            {
                "role": "assistant",
                "function_call": [{"name": "book_inn", "arguments": {"inn_id": "inn_77012", "nights": nights}}],
            },
            {"role": "observation", "content": [{"inn_id": booked, "booked": True}]},
            {"role": "assistant", "content": "Booked for 3 nights at 40 each."},
        ],
        "functions": FUNCTIONS,
    }


RECORDS = [
    record("Hotels-0"),
    record("Hotels-1", nights="three"),
    record("Cross-0"),
    record("Car-Rental-7"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The benchmark's one file."""
    return write(tmp_path / "ComplexFuncBench.jsonl", "".join(json.dumps(item) + "\n" for item in RECORDS))
