"""What lies in a benchmark's folder and looks like tasks is read, or named as not read."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import NotRead, Quarantine, Source
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.native import Native
from agenthard.audit.sources.registry import open_source
from agenthard.audit.sources.unread import find_not_read
from tests.builders import make_task


def unread(source: Source) -> list[NotRead]:
    quarantine = Quarantine()
    tasks = list(source.tasks(quarantine))
    return list(find_not_read(source, tasks, quarantine.items))


def records(*ids: str) -> list[dict[str, Any]]:
    return [make_task(id).model_dump(mode="json", exclude={"origins", "native_id"}) for id in ids]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def native(tmp_path: Path) -> Path:
    lines(tmp_path / "tasks.jsonl", records("a", "b"))
    return tmp_path


def test_a_folder_of_what_is_read_has_nothing_unread(native: Path) -> None:
    lines(native / "runs.jsonl", [{"id": "r", "task_id": "a", "model": "m", "passed": True, "messages": []}])
    lines(native / "labels.jsonl", [{"id": "a", "flawed": True, "evaluation": "gold"}])
    (native / "README.md").write_text("tasks")
    assert unread(Native(native)) == []


def test_other_files_of_records_like_the_tasks_are_counted(native: Path) -> None:
    lines(native / "more" / "extra.jsonl", records("c", "d", "e"))
    (native / "array.json").write_text(json.dumps(records("f")))
    (native / "wrapped.json").write_text(json.dumps({"version": 2, "tasks": records("g", "h")}))
    (native / "some.yaml").write_text(json.dumps(records("i", "j")))
    for name in ("k", "l"):
        (native / "single").mkdir(exist_ok=True)
        (native / "single" / f"{name}.json").write_text(json.dumps(records(name)[0], indent=1))
    found = {item.file: item.tasks for item in unread(Native(native))}
    assert found == {"array.json": 1, "more/extra.jsonl": 3, "single": 2, "some.yaml": 2, "wrapped.json": 2}
    assert all(item.is_gap for item in unread(Native(native)))


def test_copies_of_tasks_that_were_read_do_not_count(native: Path) -> None:
    (native / "small.json").write_text(json.dumps(records("a", "z"), indent=4))
    lines(native / "again.jsonl", records("z", "b"))
    assert [(item.file, item.tasks) for item in unread(Native(native))] == [("again.jsonl", 1)]


def test_what_a_run_log_embeds_is_not_unread(native: Path) -> None:
    (native / "results.json").write_text(json.dumps({"tasks": records("c"), "simulations": [{"id": 1}]}))
    assert unread(Native(native)) == []


def test_our_own_run_folders_and_environments_are_no_part_of_the_benchmark(native: Path) -> None:
    for marker in ("runs/native-1/work/key", "venv/pyvenv.cfg"):
        (native / marker).parent.mkdir(parents=True)
        (native / marker).write_text("x")
    for folder in ("runs/native-1/split/cleaned", "venv/lib", ".hidden", "node_modules/x"):
        lines(native / folder / "tasks.jsonl", records("c"))
    (native / "cleaned").mkdir()
    (native / "cleaned" / "manifest.json").write_text('{"agenthard": "0.1.0"}')
    lines(native / "cleaned" / "tasks.jsonl", records("c"))
    assert unread(Native(native)) == []


def test_what_the_user_left_out_is_named_and_no_gap(tmp_path: Path) -> None:
    rows = [{**row, "subtask": subtask} for row, subtask in zip(records("a", "b", "c"), "xyy", strict=True)]
    lines(tmp_path / "tasks.jsonl", rows)
    (item,) = unread(Native(tmp_path, ["x"]))
    assert (item.file, item.tasks, item.left_out, item.is_gap) == ("tasks.jsonl", 2, True, False)
    assert "--domain" in item.reason


def test_pipes_and_links_out_of_the_folder_are_named_and_never_opened(native: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    lines(outside / "more.jsonl", records("c"))
    os.mkfifo(native / "pipe.jsonl")
    (native / "linked.jsonl").symlink_to(outside / "more.jsonl")
    (native / "folder").symlink_to(outside)
    (native / "nowhere.json").symlink_to(outside / "absent")
    (native / "inside.jsonl").symlink_to(native / "tasks.jsonl")
    found = {item.file: item for item in unread(Native(native))}
    assert set(found) == {"folder", "linked.jsonl", "nowhere.json", "pipe.jsonl"}
    assert "named pipe" in found["pipe.jsonl"].reason
    assert all("out of the folder" in found[name].reason for name in ("folder", "linked.jsonl", "nowhere.json"))
    assert all(item.tasks is None and item.is_gap for item in found.values())


def test_a_long_file_is_named_and_the_search_goes_on(native: Path) -> None:
    with (native / "long.jsonl").open("wb") as stream:
        stream.truncate(5 << 30)
    lines(native / "more.jsonl", records("c"))
    assert [(item.file, item.tasks) for item in unread(Native(native))] == [("long.jsonl", None), ("more.jsonl", 1)]


def test_the_search_ends_at_its_bound_and_says_where(native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenthard.audit.sources.unread.MAX_FILES", 1)
    lines(native / "a.jsonl", records("c"))
    lines(native / "b.jsonl", records("d"))
    first, second = unread(Native(native))
    assert (first.file, first.tasks) == ("a.jsonl", 1)
    assert (second.file, second.tasks, second.is_gap) == ("b.jsonl", None, True) and "ended here" in second.reason


def test_a_link_out_of_the_folder_that_is_read_is_said(tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere" / "real.jsonl"
    lines(outside, records("a"))
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "tasks.jsonl").symlink_to(outside)
    (item,) = unread(Native(tmp_path / "bench"))
    assert (item.tasks, item.is_gap) == (0, False) and str(outside) in item.reason and "read from there" in item.reason


def test_odd_names_are_written_as_text(native: Path) -> None:
    folder = os.fsencode(native)
    for name in (b"line\nbreak\x1b[31m.jsonl", b"not-utf8-\xff.jsonl"):
        shutil.copyfile(lines(native / "plain.jsonl", records("c")), os.path.join(folder, name))
        (native / "plain.jsonl").unlink()
    names = [item.file for item in unread(Native(native))]
    assert names == ["line\nbreak\x1b[31m.jsonl"]  # The other one holds the same task: a copy.
    os.unlink(os.path.join(folder, b"line\nbreak\x1b[31m.jsonl"))
    assert [item.file for item in unread(Native(native))] == ["not-utf8-\\xff.jsonl"]
    assert all(NotRead.model_validate_json(item.model_dump_json()) == item for item in unread(Native(native)))


def test_an_unknown_category_of_bfcl_is_counted(tmp_path: Path) -> None:
    question = {"id": "simple_0", "question": [[{"role": "user", "content": "x"}]], "function": []}
    lines(tmp_path / "BFCL_v3_irrelevance.json", [{**question, "id": "irrelevance_0"}])
    lines(tmp_path / "BFCL_v3_newest.json", [question, {**question, "id": "simple_1"}])
    lines(tmp_path / "unused_datasets" / "BFCL_v3_sql.json", [{**question, "id": "sql_0"}])
    item, unused = unread(BFCL(tmp_path))
    assert (unused.file, unused.tasks, unused.is_gap) == ("unused_datasets/BFCL_v3_sql.json", 1, False)
    assert (item.file, item.tasks, item.is_gap) == ("BFCL_v3_newest.json", 2, True)
    assert "does not know" in item.reason


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("tau2", "tau2-bench_v0.1.3"),
        ("acebench", "acebench_2025-02-26"),
        ("acebench", "acebench_2025-10-29"),
        ("agencybench", "agencybench"),
        ("bfcl", "bfcl_v3_2025-07-17"),
    ],
)
def test_todays_corpora_are_read_whole(corpora: Path, name: str, folder: str) -> None:
    assert [item for item in unread(open_source(name, corpora / folder)) if item.tasks or item.is_gap] == []


@pytest.mark.corpora
def test_the_lists_of_tau_bench_that_it_does_not_run_are_left_out(corpora: Path) -> None:
    found = {
        item.file: (item.tasks, item.left_out)
        for item in unread(open_source("tau-bench", corpora / "tau-bench_59a200c"))
    }
    assert found == {"retail/tasks_dev.json": (20, True), "retail/tasks_train.json": (500, True)}


@pytest.mark.long
@pytest.mark.corpora
def test_every_domain_of_a_newer_tau2_is_read_or_named(corpora: Path) -> None:
    source = open_source("tau2", corpora / "tau2-bench_v1.0.1")
    quarantine = Quarantine()
    tasks = list(source.tasks(quarantine))
    found = {item.file.rpartition("/domains/")[2]: item for item in find_not_read(source, tasks, quarantine.items)}
    read = {task.subtask for task in tasks}
    assert read == {"airline", "telecom", "banking_knowledge"}
    assert not any(item.is_gap for item in found.values())
    assert (found["mock"].tasks, found["mock"].left_out) == (10, True)
    assert found["retail"].tasks == 0 and "without tasks" in found["retail"].reason
    assert (found["telecom/tasks.json"].tasks, found["telecom/tasks.json"].left_out) == (2171, True)
