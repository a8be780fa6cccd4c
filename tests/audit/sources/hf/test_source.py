import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.hf import HuggingFace
from agenthard.audit.sources.registry import sources
from agenthard.taxonomy.accepted import any_of
from tests.audit.sources.audited import findings, quarantined, read, write

ADD = {
    "name": "add",
    "description": "Add numbers.",
    "parameters": {
        "type": "dict",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        "required": ["x", "y"],
    },
}


def question(task_id: str, gold: Any = None, asked: Any = "Add 1 and 2, please.") -> dict[str, Any]:
    """A row in the manner of BFCL, its nested columns written as JSON text."""
    row = {"id": task_id, "question": json.dumps([[{"role": "user", "content": asked}]]), "function": json.dumps([ADD])}
    return row if gold is None else {**row, "ground_truth": json.dumps(gold)}


RIGHT, WRONG = [{"add": {"x": [1], "y": [2]}}], [{"add": {"x": ["one"], "y": [2]}}]
CHAT = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}


def save_to_disk(folder: Path, records: list[dict[str, Any]]) -> None:
    """What `save_to_disk` writes: a stream file, its list, and a description."""
    folder.mkdir(parents=True)
    table = pa.Table.from_pylist(records)
    for name in ("data-00000-of-00001.arrow", "cache-12ab.arrow"):
        with (folder / name).open("wb") as stream, pyarrow.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    write(folder / "state.json", json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    write(folder / "dataset_info.json", "{}")


def parquet(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.Table.from_pylist(records), path)


def test_a_saved_data_set_is_read_without_its_caches(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "set", [question("a", RIGHT), question("b", WRONG)])
    assert sources()["hf"] is HuggingFace and HuggingFace.recognises(tmp_path / "set")
    source = HuggingFace(tmp_path / "set")
    tasks = read(source)
    assert list(tasks) == ["a", "b"]
    [(_, call)] = tasks["a"].gold_calls()
    assert call.arguments == {"x": any_of([1]), "y": any_of([2])}
    assert tasks["b"].origins["/ground_truth"].pointer == "/1/ground_truth"
    assert findings(source) == {("b", "call-schema")}
    assert source.version().files == 1


def test_splits_of_a_saved_dictionary_are_domains(tmp_path: Path) -> None:
    for split in ("train", "hard"):
        save_to_disk(tmp_path / "set" / split, [question("a", RIGHT)])
    write(tmp_path / "set" / "dataset_dict.json", '{"splits": ["train", "hard"]}')
    source = HuggingFace(tmp_path / "set")
    assert {task_id: task.subtask for task_id, task in read(source).items()} == {"hard/a": "hard", "train/a": "train"}
    assert list(read(HuggingFace(tmp_path / "set", ["train"]))) == ["train/a"]
    written = source.write_split(["train/a"], tmp_path / "out")
    assert [path.relative_to(tmp_path).as_posix() for path in written] == ["out/train/data-00000-of-00001.arrow"]
    [kept] = read(HuggingFace(tmp_path / "out")).values()
    assert kept.id == "a"


CARD = """---
configs:
- config_name: easy
  data_files:
  - split: test
    path: easy/test-*.parquet
- config_name: hard
  data_files: [{split: train, path: [hard/train.jsonl]}, {split: test, path: hard/test.jsonl}]
license: mit
---
# A set
"""


def test_the_card_decides_which_files_are_rows(tmp_path: Path) -> None:
    parquet(tmp_path / "easy" / "test-00000-of-00001.parquet", [question("a", RIGHT)])
    write(tmp_path / "hard" / "train.jsonl", json.dumps(question("a", RIGHT)) + "\n")
    write(tmp_path / "hard" / "test.jsonl", json.dumps(question("b", ["add(x=1, y=2)"])) + "\n")
    write(tmp_path / "raw" / "source.jsonl", '{"text": "not a row of the set"}\n')
    write(tmp_path / "README.md", CARD)
    tasks = read(HuggingFace(tmp_path))
    assert list(tasks) == ["easy/test/a", "hard/test/b", "hard/train/a"]
    [(_, call)] = tasks["hard/test/b"].gold_calls()
    assert call.arguments == {"x": 1, "y": 2}
    assert tasks["hard/test/b"].metadata == {} and tasks["hard/test/b"].origins[""].file == "hard/test.jsonl"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("../up.jsonl", "not inside the folder"), ("hf://x/y.jsonl", "not inside"), ("no-*.jsonl", "no file matches")],
)
def test_a_card_that_names_other_files_is_refused(tmp_path: Path, pattern: str, reason: str) -> None:
    write(tmp_path / "README.md", f"---\nconfigs:\n- data_files: {pattern}\n---\n")
    write(tmp_path / "x.jsonl", json.dumps(CHAT) + "\n")
    assert not HuggingFace.recognises(tmp_path)
    with pytest.raises(SourceError, match=reason):
        HuggingFace(tmp_path)


@pytest.mark.parametrize(
    ("row", "benchmark"),
    [
        (CHAT, "chat"),
        ({"id": "Hotels-0", "conversations": [{"role": "user", "content": "Hi"}], "functions": []}, "complexfuncbench"),
        ({"Tasktype": "t", "Id": "1", "Instruction": "Draw.", "Groundtruth": "d.e()"}, "drafterbench"),
        (question("a"), "function-rows"),
    ],
)
def test_known_layouts_are_told_apart(tmp_path: Path, row: dict[str, Any], benchmark: str) -> None:
    parquet(tmp_path / "data" / "train-00000.parquet", [row])
    [task] = read(HuggingFace(tmp_path)).values()
    assert task.benchmark == benchmark and task.user.turns[0][-1].content


def test_another_layout_is_sent_to_the_mapping(tmp_path: Path) -> None:
    parquet(tmp_path / "x.parquet", [{"prompt": "a", "label": 1}])
    assert not HuggingFace.recognises(tmp_path)
    with pytest.raises(SourceError, match=r"columns label, prompt, and no known layout .*agenthard sources infer"):
        HuggingFace(tmp_path)
    with pytest.raises(SourceError, match="no data set here"):
        HuggingFace(tmp_path / "absent")


def test_a_bad_row_is_quarantined_alone(tmp_path: Path) -> None:
    bad = {**question("b"), "function": "{"}
    parquet(tmp_path / "x.parquet", [question("a"), bad, question("c")])
    [item] = quarantined(HuggingFace(tmp_path))
    assert (item.file, item.line, item.pointer, item.task_id) == ("x.parquet", None, "/1/function", "b")
    assert "expected an array" in item.reason


def test_plain_shards_are_no_data_set_unless_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", json.dumps(CHAT) + "\n")
    assert not HuggingFace.recognises(tmp_path)
    assert len(read(HuggingFace(tmp_path))) == 1
