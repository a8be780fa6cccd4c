"""Which release a task is of: content hashes of whole copies, of parts, and of changed tasks."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.audit.sources.base import NotRead
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.bfcl.layout import find_layout
from agenthard.audit.sources.bfcl.reader import MANIFEST, content_hashes
from agenthard.taxonomy import AgentTask

Read = Callable[[Path], dict[str, AgentTask]]


def hashes(tasks: dict[str, AgentTask]) -> dict[str, str | None]:
    return {task.id: task.content_hash for task in tasks.values()}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_every_task_of_a_copy_has_the_hash_that_its_release_lists(v3: Path, v4: Path, read: Read) -> None:
    for root, prefix in ((v3, "v3:"), (v4, "v4:")):
        found = hashes(read(root))
        assert set(found.values()) == set(content_hashes(find_layout(root)))
        assert all(value is not None and value.startswith(prefix) for value in found.values())
    tasks = hashes(read(v4))
    assert tasks["memory_kv_0-sailor-0"] == tasks["memory_vector_0-sailor-0"] != tasks["memory_kv_1-sailor-1"]


def test_a_part_of_a_release_keeps_the_hashes(v3: Path, read: Read, tmp_path: Path) -> None:
    whole = hashes(read(v3))
    kept = list(whole)[::2]
    BFCL(v3).write_split(kept, tmp_path)
    assert hashes(read(tmp_path)) == {name: whole[name] for name in kept}


@pytest.mark.parametrize("folder", ["", "possible_answer", "multi_turn_func_doc"])
def test_another_question_answer_or_documentation_is_another_task(v3_copy: Path, read: Read, folder: str) -> None:
    before = read(v3_copy)
    file = "message_api.json" if folder == "multi_turn_func_doc" else "BFCL_v3_multi_turn_base.json"
    path = v3_copy / "data" / folder / file
    first, *rest = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(first), "note": "new"}), *rest]), "utf-8")
    after = hashes(read(v3_copy))
    changed = {name for name, value in hashes(before).items() if after[name] != value}
    groups = {name: {tool.group for tool in task.environment.tools} for name, task in before.items()}
    if folder == "multi_turn_func_doc":
        assert changed == {name for name in before if "MessageAPI" in groups[name]}
    else:
        assert len(changed) == 1 and changed.pop().startswith("multi_turn_base_")


def test_the_end_of_a_line_does_not_matter(v3_copy: Path, read: Read) -> None:
    before = hashes(read(v3_copy))
    for path in (v3_copy / "data").rglob("*.json"):
        path.write_bytes(path.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n"))
    after = hashes(read(v3_copy))
    assert {name for name in before if before[name] != after[name]} <= {
        name for name in before if name.startswith("multi_turn_")
    }


def test_a_repaired_task_keeps_the_hash_of_the_unchanged_one(v3: Path, read: Read, tmp_path: Path) -> None:
    whole = hashes(read(v3))
    repaired = next(name for name in whole if name.startswith("simple_"))
    BFCL(v3).write_split(list(whole), tmp_path)
    path = tmp_path / "BFCL_v3_simple.json"
    path.write_text(path.read_text("utf-8").replace('{"id"', '{ "id"', 1), "utf-8")
    assert hashes(read(tmp_path))[repaired] != whole[repaired]
    manifest = {"split": "repaired", "repaired": [{"task_id": repaired, "content_hash": whole[repaired]}]}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    assert hashes(read(tmp_path)) == whole
    (tmp_path / MANIFEST).write_text('{"repaired": [{"task_id": 1}]', "utf-8")
    assert hashes(read(tmp_path))[repaired] != whole[repaired]


def test_question_files_that_are_not_read_are_named_and_counted(v4: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(v4, tmp_path / "v4"))
    data = root / "bfcl_eval/data"
    assert BFCL(root).not_read() == []
    (data / "unused_datasets/question").mkdir(parents=True)
    line = '{"id": "x_0"}\n'
    (data / "unused_datasets/question/BFCL_v4_sql.json").write_text(line * 2 + line.strip())
    (data / "BFCL_v4_rest.json").write_text(line)
    (data / "BFCL_v3_simple.json").write_text(line * 4)
    (data / "BFCL_v5_simple.json").write_text(line * 5)
    (data / "possible_answer/BFCL_v4_parallel.json").write_text(line)
    (data / "BFCL_v4_simple_python_result.json").write_text(line)
    shutil.copytree(data / "possible_answer", root / "bfcl_eval/data/old/possible_answer")
    shutil.copytree(v4 / "bfcl_eval/data", root / "lib/python3.11/site-packages/bfcl_eval/data")
    found = {item.file.removeprefix("bfcl_eval/data/"): item for item in BFCL(root).not_read()}
    assert {name: item.tasks for name, item in found.items()} == {
        "BFCL_v3_simple.json": 4,
        "BFCL_v4_rest.json": 1,
        "BFCL_v5_simple.json": 5,
        "possible_answer/BFCL_v4_parallel.json": 1,
        "unused_datasets/question/BFCL_v4_sql.json": 3,
        "lib/python3.11/site-packages/bfcl_eval/data": 8,
    }
    assert "loads nothing from the folder unused_datasets" in found["unused_datasets/question/BFCL_v4_sql.json"].reason
    assert "a category that this reader does not know" in found["BFCL_v4_rest.json"].reason
    assert "of v5, and v4 was read" in found["BFCL_v5_simple.json"].reason
    assert all(isinstance(item, NotRead) for item in found.values())
    assert all(item.left_out for item in BFCL(root, ["simple_python"]).not_read())
