"""A task that is found by its id is the one that a full read gives, in every field."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agenthard.ace import reference_format, storage
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.records import puzzle_line
from agenthard.ace.source import AceBench
from agenthard.audit.sources.base import Quarantine, Source
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.formats.id_filter import may_have_id
from agenthard.audit.sources.native import Native
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask
from tests.builders import make_task

BFCL_FILES = Path(__file__).parent / "bfcl" / "fixtures"
SUITE = Parameters(rows=3, cols=3, hidden_slots=(2, 3), decoy_budgets=(0, 2), candidates=6, domains=("course", "meal"))


def require_equal(source: Source, again: Source, ids: Sequence[str] | None = None) -> list[AgentTask]:
    """Compare tasks found one by one, and all at once, with those of a full read; return all tasks."""
    tasks = list(source.tasks(Quarantine()))
    chosen = [task.id for task in tasks] if ids is None else list(ids)
    wanted = set(chosen)
    read = {task.id: task.model_dump() for task in tasks if task.id in wanted}
    for task_id in chosen:
        found = again.task(task_id)
        assert found is not None
        assert found.model_dump() == read[task_id]
    assert {key: task.model_dump() for key, task in again.find_tasks(chosen).items()} == {
        key: read[key] for key in chosen
    }
    assert again.task("no such task") is None
    return tasks


def write_native(folder: Path, lines: Sequence[Any]) -> Path:
    rows = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    (folder / "tasks.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def plain(task_id: str, **changes: Any) -> dict[str, Any]:
    data = make_task(task_id).model_dump(mode="json", exclude={"origins", "native_id"})
    return {**data, "environment": {}, **changes}


def test_native_tasks_between_broken_lines_similar_ids_and_duplicates(tmp_path: Path) -> None:
    lines = [
        plain("a/1"),
        '{"id": "a/1',
        plain("a/11"),
        "",
        plain("a/1", subtask="the id was used already"),
        plain("b", user={"kind": "ghost"}),
        plain("b", metadata={"id": "a/1"}),
        plain("ü"),
    ]
    root = write_native(tmp_path, lines)
    assert [task.id for task in require_equal(Native(root), Native(root))] == ["a/1", "a/11", "b", "ü"]


@pytest.mark.parametrize("written", ['"id": "a\\/1"', '"id": "\\u0061/1"', '"\\u0069d": "a/1"', '"id" :\t"a/1"'])
def test_an_id_may_be_written_in_any_way(tmp_path: Path, written: str) -> None:
    first = json.dumps(plain("a/1", subtask="first")).replace('"id": "a/1"', written, 1)
    root = write_native(tmp_path, [first, plain("a/1", subtask="second")])
    [task] = require_equal(Native(root), Native(root))
    assert task.subtask == "first"


def test_records_without_the_id_are_skipped() -> None:
    test = may_have_id({"a/1", "b"})
    assert test(b'{"x": {"id": "b"}}')
    assert test(rb'{"id": "\u0062"}')
    assert not test(rb'{"id": "a/11", "text": "b \u4e2d \"id\": \"b\""}')
    assert may_have_id({"中"})(rb'{"id": "\u4e2d"}')


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_bfcl_tasks(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path))
    root = BFCL_FILES / version
    assert len(require_equal(BFCL(root), BFCL(root))) > 5


def test_a_tool_of_bfcl_keeps_the_place_where_it_is_documented_first(tmp_path: Path) -> None:
    def doc(name: str) -> dict[str, Any]:
        return {"name": name, "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}

    def question(task_id: str, *docs: Any) -> dict[str, Any]:
        return {"id": task_id, "question": [[{"role": "user", "content": "Hi"}]], "function": docs}

    questions = [
        question("simple_0", doc("f"), {"name": "h"}),  # not a task, but f is documented here
        question("simple_1", doc("g"), doc("f")),
        question("simple_1", doc("h")),  # the id was used already, so h is not documented here
        question("simple_2", {**doc("f"), "description": "another f"}),
        question("simple_3", doc("f"), doc("h")),
        question("simple_4", doc("h"), {"parameters": {}}, "no object"),
        question("simple_5", doc("h")),
    ]
    answers = [{"id": q["id"], "ground_truth": [{"f": {}}]} for q in questions]
    (tmp_path / "possible_answer").mkdir()
    for folder, rows in ((tmp_path, questions), (tmp_path / "possible_answer", answers)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "BFCL_v3_simple.json").write_text(text, encoding="utf-8")
    tasks = {task.id: task for task in require_equal(BFCL(tmp_path), BFCL(tmp_path))}
    places = {tool.name: tool.origin.line for tool in tasks["simple_3"].environment.tools if tool.origin}
    assert places == {"f": 1, "h": 5}


def test_bfcl_builds_only_what_a_task_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path))
    source = BFCL(BFCL_FILES / "v3")
    every = [task.id for task in source.tasks(Quarantine())]
    assert len(list(source.some_tasks([every[-1]]))) < len(every)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "reference"])
def test_ace_tasks_of_several_files_with_broken_and_repeated_records(tmp_path: Path, kind: str) -> None:
    instances = list(generate(SUITE))
    for name in ("a", "b"):  # the ids of the second suite get the name of its folder
        if kind == "reference":
            course = [each for each in instances if each.puzzle.domain == "course"]
            repeated = [*course, course[1]]
            reference_format.write(tmp_path / f"{name}.json", SUITE.header("course"), repeated, len(repeated))
        else:
            storage.SUITES.write(
                tmp_path / name, [*instances, instances[1]], kind="jsonl" if kind == "jsonl" else "parquet"
            )
    if kind == "jsonl":
        path = tmp_path / "a" / "puzzles.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        spaced = json.dumps(json.loads(puzzle_line(instances[2].puzzle))).encode() + b"\n"
        path.write_bytes(b"".join([lines[0][:50] + b"\n", lines[1], spaced, *lines[3:]]))
    ids = [task.id for task in require_equal(AceBench(tmp_path), AceBench(tmp_path))]
    assert any("/" in task_id for task_id in ids)
    assert AceBench(tmp_path, ["meal"] if kind != "reference" else []).task(f"c/{ids[0]}") is None


def test_a_domain_that_was_not_chosen_has_no_task(tmp_path: Path) -> None:
    storage.SUITES.write(tmp_path, generate(SUITE))
    ids = [task.id for task in require_equal(AceBench(tmp_path, ["meal"]), AceBench(tmp_path, ["meal"]))]
    other = next(task.id for task in AceBench(tmp_path).tasks(Quarantine()) if task.id not in ids)
    assert AceBench(tmp_path, ["meal"]).task(other) is None


def test_tasks_that_were_read_already_are_not_read_again(tmp_path: Path) -> None:
    root = write_native(tmp_path, [plain("a"), plain("b")])
    source = Native(root)
    tasks = source.read_tasks()[0]
    shutil.rmtree(root)
    assert source.task("b") is tasks[1]


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("bfcl", "bfcl_v3_2025-07-17"),
        ("acebench", "acebench_2025-02-26"),
        ("agencybench", "agencybench"),
        ("tau-bench", "tau-bench_59a200c"),
        ("tau2", "tau2-bench_v0.1.3"),
        ("tau2", "tau2-bench_v1.0.1"),
    ],
)
def test_a_sample_of_every_benchmark(corpora: Path, name: str, folder: str) -> None:
    root = corpora / folder
    source = open_source(name, root)
    ids = [task.id for task in source.read_tasks()[0]]
    require_equal(source, open_source(name, root), Random(0).sample(ids, 5))
