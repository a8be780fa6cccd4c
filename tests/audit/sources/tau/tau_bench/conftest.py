"""A small ferry line and a flower shop, written by hand in the two layouts of τ-bench."""

import json
from pathlib import Path
from typing import Any

import pytest

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book_reservation",
            "description": "Book a place.",
            "parameters": {
                "type": "object",
                "properties": {"user_id": {"type": "string"}, "seats": {"type": "integer"}},
                "required": ["user_id", "seats"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_user_details",
            "description": "Look up a user.",
            "parameters": {"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
        },
    },
]
SHOP_TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in ("return_delivered_order_items", "modify_user_address", "calculate", "transfer_to_human_agents")
]
TASKS: list[dict[str, Any]] = [
    {
        "task_id": 0,
        "split": "test",
        "user_id": "ada_1",
        "instruction": "You are Ada. Book two seats and ask for the price.",
        "actions": [
            {"name": "get_user_details", "kwargs": {"user_id": "ada_1"}},
            {"name": "book_reservation", "kwargs": {"user_id": "ada_1", "seats": 2}},
        ],
        "outputs": ["1144", "two"],
    },
    {"task_id": 1, "user_id": "bo_2", "instruction": "You are Bo. Ask for a refund.", "actions": [], "outputs": []},
    {"task_id": 2, "user_id": "cy_3", "instruction": "You are Cy.", "actions": [], "outputs": ["ok"]},
]
POLICY = "# Ferry policy\n\nSell seats only.\n"
STATE = {"users": {"ada_1": {"name": "Ada"}}, "flights": {}}

TASKS_TEST_PY = """from tau_bench.types import Action, Task

TASKS = [
    Task(
        annotator="0",
        user_id="ada_1",
        instruction="You are Ada. "
        "Book two seats, é and all.",
        actions=[
            Action(name="get_user_details", kwargs={"user_id": "ada_1"}),
            Action(
                name="book_reservation",
                kwargs={"user_id": "ada_1", "seats": 2, "extra": None},
            ),
        ],
        outputs=["1144"],
    ),
    # Bo came later.
    Task(annotator="0", user_id="bo_2", instruction="You are Bo.", actions=[], outputs=[]),
    Task(annotator="1", user_id="cy_3", instruction=OPENING + "!", actions=[], outputs=[]),
    Task(annotator="1", user_id="di_4", instruction="You are Di.", actions=[], outputs=[]),
]

EXTRA = "kept as it is"
"""
TOOL_PY = """import json
from typing import Any, Dict
from tau_bench.envs.tool import Tool

raise RuntimeError("this file must never be imported")


class BookReservation(Tool):
    @staticmethod
    def invoke(
        data: Dict[str, Any],
        user_id: str,
        seats: int = 1,
        **options: Any,
    ) -> str:
        return json.dumps(data)

    @staticmethod
    def get_info() -> Dict[str, Any]:
        return {
            "type": "function",
            "function": {
                "name": "book_reservation",
                "description": "Book a place.",
                "parameters": {
                    "type": "object",
                    "properties": {"user_id": {"type": "string"}, "seats": {"type": "integer"}},
                    "required": ["user_id"],
                },
            },
        }
"""
OTHER_TOOL_PY = TOOL_PY.replace("BookReservation", "Aid").replace("book_reservation", "aid")
ALL_TOOLS_PY = """from .book_reservation import BookReservation
from .aid import Aid

ALL_TOOLS = [BookReservation, Aid]
"""


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """The JSON layout: airline with three tasks, retail with one and a dev split."""
    root = tmp_path / "tau-bench_59a200c"
    for domain, tools in (("airline", TOOLS), ("retail", SHOP_TOOLS)):
        write_json(root / domain / "tools.json", tools)
        write_json(root / domain / "policy.json", {"wiki.md": POLICY, "rules": ["unused"]})
        write_json(root / domain / "db.json", STATE)
    write_json(root / "airline" / "tasks.json", TASKS)
    write_json(root / "retail" / "tasks.json", TASKS[:1])
    write_json(root / "retail" / "tasks_dev.json", TASKS[1:])
    return root


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The original layout: one domain in Python, one task of which is no literal."""
    root = tmp_path / "tau-bench"
    domain = root / "tau_bench" / "envs" / "airline"
    write_text(domain / "tasks_test.py", TASKS_TEST_PY)
    write_text(domain / "wiki.md", POLICY)
    write_text(domain / "tools" / "__init__.py", ALL_TOOLS_PY)
    write_text(domain / "tools" / "book_reservation.py", TOOL_PY)
    write_text(domain / "tools" / "aid.py", OTHER_TOOL_PY)
    write_text(domain / "tools" / "unused.py", OTHER_TOOL_PY.replace("aid", "unused"))
    write_json(domain / "data" / "users.json", STATE["users"])
    write_json(domain / "data" / "flights.json", {})
    return root
