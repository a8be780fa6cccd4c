import ast
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau_bench import TauBench
from tests.audit.sources.tau.tau_bench.conftest import POLICY, TASKS_TEST_PY, TOOL_PY, write_text

DOMAIN = Path("tau_bench") / "envs" / "airline"


def test_tasks_are_read_from_python_without_running_it(checkout: Path) -> None:
    quarantine = Quarantine()
    tasks = list(TauBench(checkout).tasks(quarantine))
    assert [task.id for task in tasks] == ["airline/0", "airline/1", "airline/3"]
    first = tasks[0]
    assert first.user.instruction == "You are Ada. Book two seats, é and all."
    assert first.metadata == {"annotator": "0", "user_id": "ada_1"}
    booking = first.ground_truth.turns[0][1]
    assert booking.arguments == {"user_id": "ada_1", "seats": 2, "extra": None}
    assert booking.text is not None and ast.parse(booking.text.strip(), mode="eval")
    assert booking.text.startswith("Action(")
    assert first.environment.policy == POLICY
    assert first.environment.state == {"users": {"ada_1": {"name": "Ada"}}, "flights": {}}


def test_what_is_no_literal_is_quarantined_with_its_line(checkout: Path) -> None:
    quarantine = Quarantine()
    list(TauBench(checkout).tasks(quarantine))
    (item,) = quarantine.items
    assert item.task_id == "airline/2"
    assert item.line is not None
    assert "OPENING" in TASKS_TEST_PY.splitlines()[item.line - 1]
    assert "OPENING" in item.reason and "is not a literal" in item.reason


def test_origins_are_lines_of_the_python_file(checkout: Path) -> None:
    task = next(TauBench(checkout).tasks(Quarantine()))
    lines = TASKS_TEST_PY.splitlines()

    def line_at(pointer: str) -> str:
        origin = task.origins[pointer]
        assert origin.file == (DOMAIN / "tasks_test.py").as_posix()
        return lines[(origin.line or 0) - 1]

    assert line_at("").strip() == "Task("
    assert "You are Ada" in line_at("/user/instruction")
    assert line_at("/ground_truth/turns/0/1").strip() == "Action("
    assert "seats" in line_at("/ground_truth/turns/0/1/arguments")
    assert "1144" in line_at("/ground_truth/outputs/0")
    assert task.origins["/environment/state/users"].file == (DOMAIN / "data" / "users.json").as_posix()


def test_tools_come_in_the_order_of_all_tools_with_their_signature(checkout: Path) -> None:
    tools = next(TauBench(checkout).tasks(Quarantine())).environment.tools
    assert [tool.name for tool in tools] == ["book_reservation", "aid"]
    assert tools[0].effect == "write"
    assert tools[0].parameters["required"] == ["user_id"]
    signature = tools[0].implementation
    assert signature is not None
    assert (signature.parameters, signature.required, signature.extra_keywords) == (
        ("user_id", "seats"),
        ("user_id",),
        True,
    )
    assert signature.source.startswith("def invoke(") and signature.source.endswith("-> str:")
    assert TOOL_PY.splitlines()[(signature.origin.line or 0) - 1].strip() == "def invoke("


def test_the_older_style_of_plain_dicts_is_read(checkout: Path) -> None:
    (checkout / DOMAIN / "tasks_test.py").unlink()
    write_text(
        checkout / DOMAIN / "tasks.py",
        'tasks = [{"annotator": 0, "user_id": "u", "instruction": "Hi", '
        '"actions": [{"name": "aid", "arguments": {"n": -1}}], "outputs": []}]\n',
    )
    (task,) = TauBench(checkout).tasks(Quarantine())
    assert task.ground_truth.turns[0][0].arguments == {"n": -1}
    assert task.metadata["annotator"] == 0


@pytest.mark.parametrize("below", ["tau_bench", "tau_bench/envs"])
def test_folders_inside_the_checkout_can_be_opened(checkout: Path, below: str) -> None:
    tasks = list(TauBench(checkout / below).tasks(Quarantine()))
    assert len(tasks) == 3
    assert (checkout / below / tasks[0].origins[""].file).is_file()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TASKS = [", "not Python"),
        ("TASKS = make_tasks()", "expected a list of Task"),
        ("TASKS = [" + "(" * 5000 + ")" * 5000 + "]", "Python"),
        ("TASKS = [\0]", "read the file"),
    ],
)
def test_a_hostile_task_file_takes_only_its_domain_out(checkout: Path, text: str, reason: str) -> None:
    (checkout / DOMAIN / "tasks_test.py").write_text(text)
    quarantine = Quarantine()
    assert list(TauBench(checkout).tasks(quarantine)) == []
    (item,) = quarantine.items
    assert item.file.endswith("tasks_test.py")
    assert reason.lower() in item.reason.lower() or "null" in item.reason


def test_a_tool_without_a_literal_description_is_named(checkout: Path) -> None:
    write_text(checkout / DOMAIN / "tools" / "aid.py", "class Aid:\n    def get_info():\n        return build()\n")
    quarantine = Quarantine()
    assert list(TauBench(checkout).tasks(quarantine)) == []
    assert quarantine.items[0].file.endswith("tools/aid.py")
    assert quarantine.items[0].line == 3


def test_elements_that_are_no_tasks_are_quarantined(checkout: Path) -> None:
    write_text(checkout / DOMAIN / "tasks_test.py", 'TASKS = [7, Task("positional"), Task(**more), {**more}]\n')
    quarantine = Quarantine()
    assert list(TauBench(checkout).tasks(quarantine)) == []
    assert [item.task_id for item in quarantine.items] == [f"airline/{i}" for i in range(4)]
