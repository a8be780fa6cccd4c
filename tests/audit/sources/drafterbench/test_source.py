import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.drafterbench import DrafterBench
from agenthard.audit.sources.drafterbench.code import calls_in
from agenthard.audit.sources.registry import sources
from tests.audit.sources.audited import findings, quarantined, read, write

SCRIPT = """import fitz
doc = fitz.open("plan_07.pdf")
size = 3
for page in doc:
    page.add_table(rows=size, columns=4, at=page.rect)
doc.save("plan_07_new.pdf")
"""
SOUND = "Draw tables.\n\n```python\npage.add_table(rows=2, columns=2)\ndoc.save('out.pdf')\n```\n"
FLAWED = "Delete tables.\n\n```python\npage.delete_table(1)\ndoc.save\n```\n\nAlways end with doc.save('out.pdf').\n"


def record(kind: str, number: int, script: str = SCRIPT, **changes: Any) -> dict[str, Any]:
    return {
        "Tasktype": kind,
        "Id": number,
        "Precise|Vague": "Precise",
        "Complete|Error": "Complete",
        "Instruction": f"Change {number}: add a table of 3 rows and 4 columns to each page of plan_07.pdf.",
        "Groundtruth": script,
        **changes,
    }


def make(root: Path, records: list[dict[str, Any]], prompts: dict[str, str] | None = None) -> DrafterBench:
    write(root / "tasks.json", json.dumps(records, indent=1))
    for name, text in (prompts or {}).items():
        write(root / "Prompts" / name, text)
    return DrafterBench(root)


def test_it_is_registered_and_recognises_rows_however_spelled(tmp_path: Path) -> None:
    assert sources()["drafterbench"] is DrafterBench
    spelled = {"task_type": "add_table", "instruction": "Add.", "groundtruth code": SCRIPT}
    [task] = read(DrafterBench(write(tmp_path / "a.jsonl", json.dumps(spelled) + "\n"))).values()
    assert task.id == "add_table/a.jsonl:1"
    other = write(tmp_path / "b.jsonl", '{"id": "x"}\n')
    assert not DrafterBench.recognises(other)
    with pytest.raises(SourceError, match="looked for rows with Tasktype"):
        DrafterBench(other)


def test_a_row_is_a_task(tmp_path: Path) -> None:
    task = read(make(tmp_path, [record("add_table", 1)]))["add_table/1"]
    assert task.user.turns[0][0].content.startswith("Change 1:")
    assert [(call.name, call.arguments) for _, call in task.gold_calls()] == [
        ("open", {"*0": "plan_07.pdf"}),
        ("add_table", {"rows": 3, "columns": 4}),
        ("save", {"*0": "plan_07_new.pdf"}),
    ]
    assert (task.ground_truth.semantics, task.ground_truth.call_matching) == ("reference_path", "state")
    assert task.metadata == {"Precise|Vague": "Precise", "Complete|Error": "Complete", "script": SCRIPT.strip()}
    assert task.origins["/ground_truth"].pointer == "/0/Groundtruth" and task.origins[""].line == 2


def test_csv_rows_are_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "t.csv", 'Tasktype,Id,Instruction,Groundtruth\nadd_table,1,"Add, please.","a.b(1)\nc.d()"\n'
    )
    [task] = read(DrafterBench(file)).values()
    assert [call.name for _, call in task.gold_calls()] == ["b", "d"]


def test_a_script_is_read_and_never_run() -> None:
    calls = calls_in("x = 1\nx = 2\na.b(x, [1, (2,)], *rest, k={'v': None}, **more).c(open)\n")
    assert calls is not None
    assert [(call.name, call.arguments) for call in calls] == [("b", {"*1": [1, [2]], "k": {"v": None}}), ("c", {})]
    assert calls_in("raise SystemExit") == ()
    assert calls_in("def (") is None
    assert calls_in("(" * 10_000) is None


def test_a_script_that_does_not_parse_is_kept_as_text(tmp_path: Path) -> None:
    [(_, call)] = read(make(tmp_path, [record("add_table", 1, "doc.save(")]))["add_table/1"].gold_calls()
    assert (call.name, call.text) == ("", "doc.save(")


def test_prompts_are_policies_and_their_examples_are_checked(tmp_path: Path) -> None:
    records = [record(kind, i) for kind in ("add_table", "delete_table", "add_text") for i in (1, 2)]
    source = make(
        tmp_path,
        records,
        {"add_table.txt": SOUND, "prompt_delete_table.py": f"import os\nPROMPT = {(FLAWED + ' ' * 200)!r}\n"},
    )
    tasks = read(source)
    assert tasks["add_table/1"].environment.policy == SOUND
    assert tasks["add_table/1"].environment is tasks["add_table/2"].environment
    assert tasks["add_table/1"].origins["/environment/policy"].file == "Prompts/add_table.txt"
    assert tasks["add_text/1"].environment.policy == ""
    assert findings(source) == {("delete_table/1", "prompt-code-example"), ("delete_table/2", "prompt-code-example")}
    assert source.version().files == 3


def test_a_domain_is_a_task_type(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, [record("add_table", 1), record("add_text", 1)])
    assert list(read(DrafterBench(root, ["add_text"]))) == ["add_text/1"]
    with pytest.raises(SourceError, match="there are: add_table, add_text"):
        DrafterBench(root, ["rotate"])


@pytest.mark.parametrize(
    ("change", "pointer", "reason"),
    [
        ({"Tasktype": None}, "/1/Tasktype", "expected a string"),
        ({"Instruction": ["x"]}, "/1/Instruction", "expected a string"),
        ({"Groundtruth": {}}, "/1/Groundtruth", "expected a string"),
        ({"Id": 1.5}, "/1/Id", "neither text nor a number"),
        ({"Id": 1}, "/1", "already used at tasks.json:1"),
    ],
)
def test_a_bad_record_is_quarantined_alone(tmp_path: Path, change: Any, pointer: str, reason: str) -> None:
    records = [record("add_table", 1), {**record("add_table", 2), **change}, record("add_table", 3)]
    [item] = quarantined(make(tmp_path, records))
    assert (item.file, item.pointer) == ("tasks.json", pointer) and item.line and reason in item.reason


def test_a_split_keeps_records_byte_identical(tmp_path: Path) -> None:
    source = make(tmp_path / "root", [record("add_table", i) for i in range(3)])
    [written] = source.write_split(["add_table/2"], tmp_path / "out")
    text = (tmp_path / "root" / "tasks.json").read_text("utf-8")
    [kept] = json.loads(written.read_text("utf-8"))
    assert kept["Id"] == 2
    assert written.read_text("utf-8")[4:-3] in text
