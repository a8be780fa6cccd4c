import csv
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.mapping import MappingSource
from tests.audit.sources.mapping.conftest import LEND, MAPPING, ROWS


def read(source: MappingSource) -> tuple[list[Any], list[tuple[int | None, str]]]:
    quarantine = Quarantine()
    return list(source.tasks(quarantine)), [(item.line, item.pointer) for item in quarantine.items]


def test_a_row_becomes_a_task_with_its_places(open_mapping: Any) -> None:
    (first, second), quarantined = read(open_mapping())
    assert quarantined == []
    assert (first.id, first.benchmark) == ("a", "library")
    assert first.user.turns[0][0].content == "Lend me book 7."
    assert first.ground_truth.turns[0][0].arguments == {"book_id": 7}
    assert [check.kind for check in first.evaluation.checks] == ["tool_calls"]
    assert first.environment is second.environment
    place = second.origins["/ground_truth/turns/0"]
    assert (place.file, place.line, place.pointer) == ("tasks.jsonl", 2, "/gold")


def test_every_part_can_be_mapped(open_mapping: Any, tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text("Be kind.")
    (tmp_path / "db.json").write_text('{"books": [7]}')
    row = {
        **ROWS[0],
        "kind": "lending",
        "persona": "Ada",
        "start": '{"day": 1}',
        "say": ["28"],
        "final": 1,
        "options": ["yes", "no"],
        "points": ["Names the book."],
        "family": 3,
        "tags": "redundant_calls_free",
        "nothing": None,
    }
    source = open_mapping(
        [row],
        subtask="kind",
        user={"instruction": "question", "context": {"persona": "persona"}},
        environment={"tools": "tools", "policy": {"file": "policy.md"}, "state": {"file": "db.json"}},
        initial_state="start",
        ground_truth={
            "calls": "gold",
            "semantics": "reference_path",
            "matching": "state",
            "outputs": "say",
            "answers": "final",
            "choices": "options",
        },
        evaluation={"answer": "whole_words", "rubric": "points", "rubric_scored": False, "note": "blanks apart"},
        traits="tags",
        cluster="family",
        metadata={"persona": "persona", "source": {"value": "hand"}, "nothing": "nothing"},
    )
    (task,), quarantined = read(source)
    assert quarantined == []
    assert (task.subtask, task.user.kind, task.user.context) == ("lending", "simulated", {"persona": "Ada"})
    assert (task.environment.policy, task.environment.state, task.initial_state) == (
        "Be kind.",
        {"books": [7]},
        {"day": 1},
    )
    assert (task.ground_truth.outputs, task.ground_truth.answers) == (("28",), ("B", "no"))
    assert [(check.kind, check.scored) for check in task.evaluation.checks] == [
        ("final_state", True),
        ("output_substring", True),
        ("output_substring", True),
        ("rubric", False),
    ]
    assert all("blanks apart" in check.note for check in task.evaluation.checks)
    assert (task.cluster, task.traits) == ("3", {"redundant_calls_free"})
    assert (task.metadata["persona"], task.metadata["source"]) == ("Ada", "hand")
    assert task.metadata["choices"] == ["yes", "no"]
    assert task.metadata["candidates"]["sets"][0]["truth"] == "B"
    assert "nothing" not in task.metadata


def test_no_call_is_a_check_where_the_trait_says_so(open_mapping: Any) -> None:
    source = open_mapping([{**ROWS[0], "gold": []}], traits={"value": "expects_no_call"})
    assert [check.kind for check in read(source)[0][0].evaluation.checks] == ["no_call"]


def test_bad_rows_are_quarantined_with_their_place(open_mapping: Any) -> None:
    rows = [
        ROWS[0],
        "{",
        {**ROWS[1], "question": ""},
        {**ROWS[1], "tools": [{"description": "nameless"}]},
        {**ROWS[1], "gold": [{"lend_book": 7}]},
        {**ROWS[0]},
        {"id": "e", "question": "Hello there.", "tools": [LEND]},
        {**ROWS[1], "id": None},
        ROWS[1],
    ]
    tasks, quarantined = read(open_mapping(rows))
    assert [task.id for task in tasks] == ["a", "b"]
    assert quarantined == [
        (2, ""),
        (3, "/question"),
        (4, "/tools/0"),
        (5, "/gold/0/lend_book"),
        (6, ""),
        (7, ""),
        (8, ""),
    ]


def test_rows_of_other_files_are_joined(open_mapping: Any, write: Any, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text('task,calls\na,"[{""lend_book"": {""book_id"": 7}}]"\na,x\n')
    joined = {"name": "answer", "files": "gold.csv", "key": "task", "on": "id"}
    changes: dict[str, Any] = {"join": [joined], "ground_truth": {"calls": {"path": "answer.calls", "default": []}}}
    source = open_mapping(**changes)
    quarantine = Quarantine()
    (task,) = source.tasks(quarantine)
    assert [(item.file, item.line) for item in quarantine.items] == [("gold.csv", 3), ("tasks.jsonl", 2)]
    assert (task.origins["/ground_truth/turns"].file, task.origins["/ground_truth/turns"].line) == ("gold.csv", 2)
    changes["join"] = [{**joined, "required": False}]
    tasks, _ = read(open_mapping(**changes))
    assert [len(task.ground_truth.turns[0]) for task in tasks] == [1, 0]
    out = tmp_path / "out"
    out.mkdir()
    source.write_split(["a"], out)
    assert (out / "gold.csv").read_text() == 'task,calls\na,"[{""lend_book"": {""book_id"": 7}}]"\n'
    assert [task.id for task in MappingSource(out).tasks(Quarantine())] == ["a"]


def test_domains_are_subtasks(write: Any) -> None:
    folder = write([{**ROWS[0], "kind": "x"}, {**ROWS[1], "kind": "y"}], subtask="kind")
    assert [task.id for task in MappingSource(folder, ["y"]).tasks(Quarantine())] == ["b"]
    with pytest.raises(SourceError, match="unknown domain: z; there are: x, y"):
        MappingSource(folder, ["z"])


def test_the_version_covers_rows_and_mapping(open_mapping: Any) -> None:
    hashes = {open_mapping().version().content_hash, open_mapping(ROWS[:1]).version().content_hash}
    hashes.add(open_mapping(ground_truth={"calls": "gold", "matching": "any_order"}).version().content_hash)
    assert len(hashes) == 3
    assert open_mapping().version() == open_mapping().version()


CELLS = [{key: value if isinstance(value, str) else json.dumps(value) for key, value in row.items()} for row in ROWS]


def write_rows(path: Path) -> None:
    if path.suffix == ".csv":
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(CELLS[0]))
            writer.writeheader()
            writer.writerows(CELLS)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(CELLS), path)
    elif path.name == "document.json":
        path.write_text(json.dumps({"version": 2, "data": {"rows": ROWS}}))
    else:
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in ROWS) if path.suffix == ".jsonl" else json.dumps(ROWS)
        )


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv", "t.parquet", "document.json"])
def test_every_format_is_read_and_split(tmp_path: Path, name: str) -> None:
    import yaml

    write_rows(tmp_path / name)
    rows = {"rows": "/data/rows"} if name == "document.json" else {}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump({**MAPPING, "files": name, **rows}))
    source = MappingSource(tmp_path / "own.yaml")
    tasks, quarantined = read(source)
    assert quarantined == []
    assert [task.ground_truth.turns[0][0].arguments for task in tasks] == [{"book_id": 7}, {"book_id": 8}]
    out = tmp_path / "out"
    out.mkdir()
    written = source.write_split(["b"], out)
    assert {path.name for path in written} == {name, "mapping.yaml"}
    (kept,) = MappingSource(out).tasks(Quarantine())
    assert kept.model_dump(exclude={"origins", "environment"}) == tasks[1].model_dump(
        exclude={"origins", "environment"}
    )
    if name.endswith((".jsonl", ".csv")):
        assert (out / name).read_bytes().splitlines()[-1] == (tmp_path / name).read_bytes().splitlines()[-1]
    if name == "document.json":
        assert json.loads((out / name).read_text()) == {"version": 2, "data": {"rows": [ROWS[1]]}}
    with pytest.raises(SourceError, match="no such task"):
        source.write_split(["zz"], out)


def test_a_document_can_be_one_row_and_the_folder_can_be_elsewhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "task.json").write_text(json.dumps({"step1": f"Begin {name}.", "step2": "Go on."}))
    (tmp_path / "m.yaml").write_text(
        "benchmark: steps\nfolder: data\nfiles: '**/task.json'\nrows: ''\nsubtask: _folder\n"
        "user: {turns: '[step1, step2]'}\n"
    )
    source = MappingSource(tmp_path / "m.yaml")
    tasks, _ = read(source)
    assert [(task.id, task.subtask, len(task.user.turns)) for task in tasks] == [
        ("one/task.json", "one", 2),
        ("two/task.json", "two", 2),
    ]
    out = tmp_path / "out"
    out.mkdir()
    source.write_split(["two/task.json"], out)
    assert (out / "two/task.json").read_bytes() == (tmp_path / "data/two/task.json").read_bytes()
    assert [task.id for task in MappingSource(out).tasks(Quarantine())] == ["two/task.json"]


def test_paths_lead_into_columns_of_json_text(open_mapping: Any) -> None:
    row = {**ROWS[0], "extra": "{'truth': [{'lend_book': {'book_id': 9}}]}"}
    (task,), _ = read(open_mapping([row], json_columns=["extra"], ground_truth={"calls": "extra.truth"}))
    assert task.ground_truth.turns[0][0].arguments == {"book_id": 9}


def test_what_is_nested_too_deep_is_quarantined(open_mapping: Any) -> None:
    deep = "[" * 500 + "]" * 500
    rows = [ROWS[0], {**ROWS[1], "more": json.loads(deep)}, {**ROWS[1], "gold": deep}]
    tasks, quarantined = read(open_mapping(rows))
    assert [task.id for task in tasks] == ["a"]
    assert quarantined == [(2, ""), (3, "/gold")]
