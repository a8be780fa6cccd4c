"""A small ACEBench, written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

LIBRARY = {
    "name": "Library_findBooks",
    "description": "Find books.",
    "parameters": {
        "type": "dict",
        "properties": {
            "topic": {"type": "string"},
            "since": {"type": "string", "format": "date-time"},
            "shelves": {"type": "list", "items": {"type": "object", "properties": {"opens": {"format": "time"}}}},
        },
        "required": ["topic"],
    },
}
PRINTER = {
    "name": "printer.print_2",
    "arguments": {"type": "object", "properties": {"pages": {"type": "integer"}}},
    "results": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
    "tags": ["office"],
}
PHONE = [
    {"name": name, "description": name, "parameters": {"type": "dict", "required": list(given), "properties": given}}
    for name, given in {
        "turn_on_wifi": {},
        "send_message": {"to": {"type": "string"}, "message": {"type": "string"}},
    }.items()
]
DIALOGUE = "user: Find books on birds.\nsystem: Since when?\nuser: 1990; see user: page 2.\n"


def normal(task_id: str, gold: Any, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    question = {"id": task_id, "question": DIALOGUE, "function": [LIBRARY, PRINTER], "time": "It is Monday."}
    return {**question, **changes}, {"id": task_id, "ground_truth": gold}


def agent(task_id: str, milestones: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    question = {
        "id": task_id,
        "question": "Tell Eve: user: hi",
        "function": PHONE,
        "initial_config": {"BaseApi": {"wifi": False}},
        "path": [],
        "involved_classes": ["BaseApi", "MessageApi"],
    }
    states = [{"BaseApi": {"wifi": True}}, {"MessageApi": {"inbox": {"1": "Hello", "2": "hi"}}}]
    return question, {"id": task_id, "ground_truth": states, "mile_stone": milestones}


BIRDS = {"Library_findBooks": {"topic": "birds", "since": "1990-01-01T00:00:00"}}
TWICE = {"Library_findBooks_1": {"topic": "birds"}, "Library_findBooks_2": {"topic": "owls"}, "printer.print_2": {}}
FILES = {
    "normal_atom_bool": [
        normal("normal_atom_bool_0", BIRDS),
        normal(
            "normal_atom_bool_1", [{"Library_findBooks": {"topic": "birds"}}, {"Library_findBooks": {"topic": "owls"}}]
        ),
        normal("normal_atom_bool_2", [{"Library_findBooks": {"topic": "birds"}}, {"printer.print_2": {"pages": 1}}]),
    ],
    "normal_multi_turn_user_switch": [
        normal("normal_multi_turn_user_switch_3_0", TWICE),
        normal("normal_multi_turn_user_switch_3_1", BIRDS),
    ],
    "normal_preference": [normal("normal_preference_0", BIRDS, time="", profile="{'likes': 'birds'}")],
    "special_incomplete": [normal("special_incomplete_0", {"Library_findBooks": ["topic ", " since"]})],
    "special_error_param": [
        normal("special_error_param_0", {"Library_findBooks": ["1990x"]}),
        normal("special_error_param_1", {"since": ["1990x"]}),
    ],
    "special_irrelevant": [normal("special_irrelevant_0", "Beyond the functions.")],
    "agent_multi_step": [
        agent("agent_multi_step_0", ["[turn_on_wifi()] ", "[send_message(to='Eve', message='hi')]"]),
        agent("agent_multi_step_1", [["[turn_on_wifi(), send_message('Eve', 'hi')]"], ["[turn_on_wifi()]"]]),
    ],
    "agent_multi_turn": [agent("agent_multi_turn_0", ["[send_message(to='Eve', message='It's me')]"])],
}


def write_files(folder: Path, files: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]) -> None:
    (folder / "possible_answer").mkdir(parents=True, exist_ok=True)
    for name, pairs in files.items():
        for place, half in ((folder, 0), (folder / "possible_answer", 1)):
            lines = [json.dumps(pair[half], ensure_ascii=False, indent=None) for pair in pairs]
            (place / f"data_{name}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout's data."""
    folder = tmp_path / "ACEBench" / "data_all" / "data_en"
    write_files(folder, FILES)
    return tmp_path / "ACEBench"
