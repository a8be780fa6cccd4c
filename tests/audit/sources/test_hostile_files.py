"""Broken or hostile files: each ends with one clear reason, in bounded time and memory, and the rest is read."""

import gzip
import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenthard.audit.decisions.policy import PolicyError, load_policy
from agenthard.audit.sources.base import Quarantine, Quarantined, SourceError
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.chat import Chat
from agenthard.audit.sources.formats.json_records import read_json_array, read_jsonl
from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.native_files import read_native_runs
from agenthard.audit.sources.formats.rows import read_rows
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.mapping import MappingSource
from agenthard.audit.sources.native import Native
from agenthard.audit.sources.registry import open_source
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.flows.errors import CommandError
from agenthard.flows.run_config import load_config
from agenthard.taxonomy.categories import TaxonomyError, load_taxonomy
from agenthard.taxonomy.files import UnreadableFileError, read_text
from agenthard.taxonomy.yaml_text import load_yaml
from tests.builders import make_task

BOM = b"\xef\xbb\xbf"
DEEP = "[" * 200_000


def task(id: str) -> str:
    return json.dumps(make_task(id).model_dump(mode="json", exclude={"origins", "native_id"}))


def chat(id: str, **more: Any) -> str:
    return json.dumps({"id": id, "messages": [{"role": "user", "content": "hi"}], "tools": [], **more})


def native(folder: Path, content: bytes) -> tuple[list[str], list[Quarantined]]:
    (folder / "tasks.jsonl").write_bytes(content)
    quarantine = Quarantine()
    return [found.id for found in Native(folder).tasks(quarantine)], quarantine.items


# A byte order mark is no part of the content.


def test_a_byte_order_mark_costs_no_line(tmp_path: Path) -> None:
    assert native(tmp_path, BOM + f"{task('a')}\n{task('b')}\n".encode()) == (["a", "b"], [])


def test_a_byte_order_mark_costs_no_row_of_any_format(tmp_path: Path) -> None:
    files = {
        "rows.jsonl": '{"id": 1}\n{"id": 2}\n',
        "rows.json": '[{"id": 1}, {"id": 2}]',
        "lines.json": '{"id": 1}\n{"id": 2}\n',
        "rows.csv": "id\n1\n2\n",
        "rows.tsv": "id\n1\n2\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_bytes(BOM + text.encode())
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(BOM + text.encode()))
        for path in (tmp_path / name, tmp_path / f"{name}.gz"):
            quarantine = Quarantine()
            assert [str(row.values["id"]) for row in read_rows(path, name, quarantine)] == ["1", "2"], path.name
            assert quarantine.items == []


def test_a_byte_order_mark_costs_nothing_in_whole_documents(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(BOM + b'{"x": 1}')
    (tmp_path / "a.md").write_bytes(BOM + b"Be kind.")
    (tmp_path / "policy.yaml").write_bytes(BOM + Path("audit/decisions/policy.yaml").read_bytes())
    assert load_document(tmp_path / "a.json") == {"x": 1}
    assert read_text(tmp_path / "a.md") == "Be kind."
    assert load_policy(tmp_path / "policy.yaml") == load_policy()


# Another encoding.


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_one_clear_reason(tmp_path: Path, encoding: str) -> None:
    tasks, (item,) = native(tmp_path, "".join(f"{task(id)}\n" for id in "abc").encode(encoding))
    assert tasks == [] and "not UTF-8" in item.reason and "iconv" in item.reason


def test_a_single_nul_costs_one_record(tmp_path: Path) -> None:
    tasks, (item,) = native(tmp_path, task("a").encode() + b'\n{"id": "\0"}\n' + task("b").encode())
    assert (tasks, item.line) == (["a", "b"], 2)


# What is no file.


def test_a_pipe_as_a_file_never_blocks(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(task("a") + "\n")
    for name in ("runs.jsonl", "environments.jsonl", "policy.yaml", "x.json", "HEAD"):
        os.mkfifo(tmp_path / name)
    quarantine = Quarantine()
    assert [found.id for found in Native(tmp_path).tasks(quarantine)] == ["a"]
    with pytest.raises(SourceError, match="no run file"):
        list(read_native_runs(tmp_path / "runs.jsonl", quarantine))
    for read in (read_text, load_document):
        with pytest.raises(UnreadableFileError, match="named pipe"):
            read(tmp_path / "x.json")
    with pytest.raises(PolicyError, match="named pipe"):
        load_policy(tmp_path / "policy.yaml")
    (tmp_path / "tasks.jsonl").unlink()
    os.mkfifo(tmp_path / "tasks.jsonl")
    with pytest.raises(SourceError, match=r"no tasks\.jsonl"):
        Native(tmp_path)


def test_a_pipe_instead_of_what_tells_the_release_never_blocks(tmp_path: Path) -> None:
    folder = tmp_path / "data/tau2/domains/shop"
    folder.mkdir(parents=True)
    (folder / "tasks.json").write_text("[]")
    (folder / "policy.md").write_text("Be kind.")
    os.mkfifo(folder / "tools.json")
    os.mkfifo(folder / "db.json")
    os.mkfifo(tmp_path / "pyproject.toml")
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    source, quarantine = Tau2Bench(tmp_path), Quarantine()
    assert source.version().label == "unknown" and list(source.tasks(quarantine)) == []
    assert "no tools" in quarantine.items[0].reason


# Length.


def sparse(path: Path, start: bytes = b"", size: int = 5 << 30) -> Path:
    with path.open("wb") as stream:
        stream.write(start)
        stream.truncate(size)
    return path


def test_a_sparse_file_is_refused_by_its_first_bytes(tmp_path: Path) -> None:
    sparse(tmp_path / "tasks.jsonl")
    quarantine, began = Quarantine(), time.process_time()
    assert list(Native(tmp_path).tasks(quarantine)) == []
    assert "NUL" in quarantine.items[0].reason and time.process_time() - began < 2


def test_a_long_document_is_refused_unread(tmp_path: Path) -> None:
    path, began = sparse(tmp_path / "db.json", b'{"a": 1}'), time.process_time()
    with pytest.raises(UnreadableFileError, match="longer than 256 MiB"):
        load_document(path)
    with pytest.raises(PolicyError, match="longer than 1 MiB"):
        load_policy(path)
    assert time.process_time() - began < 2


def test_a_long_array_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenthard.audit.sources.formats.json_records.MAX_BYTES", 1000)
    (tmp_path / "tasks.json").write_text(json.dumps([{"a": "x" * 600}] * 2))
    quarantine = Quarantine()
    assert list(read_json_array(tmp_path / "tasks.json", "tasks.json", quarantine)) == []
    assert "JSON Lines" in quarantine.items[0].reason


def test_a_line_of_200_megabytes_costs_one_record(tmp_path: Path) -> None:
    with (tmp_path / "tasks.jsonl").open("wb") as stream:
        stream.write(task("a").encode() + b'\n{"id": "')
        for _ in range(200):
            stream.write(b"x" * (1 << 20))
        stream.write(b'"}\n' + task("b").encode() + b"\n")
    quarantine = Quarantine()
    assert [found.id for found in Native(tmp_path).tasks(quarantine)] == ["a", "b"]
    (item,) = quarantine.items
    assert item.line == 2 and "longer than 64 MiB" in item.reason


# Packed files.


def bomb(path: Path, start: bytes, megabytes: int) -> Path:
    with gzip.open(path, "wb", compresslevel=9) as stream:
        stream.write(start)
        for _ in range(megabytes):
            stream.write(b" " * (1 << 20))
    return path


def test_a_gzip_bomb_ends_with_a_reason_and_keeps_what_came_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthard.audit.sources.formats.files.UNPACKED_BYTES", 1 << 20)
    path = bomb(tmp_path / "runs.jsonl.gz", b'{"id": 1}\n', 100)
    quarantine = Quarantine()
    assert [record.value for record in read_jsonl(path, path.name, quarantine, kind="run")] == [{"id": 1}]
    (item,) = quarantine.items
    assert "unpacks to more than 200 times its size" in item.reason and item.kind == "run"


def test_a_bomb_of_an_eval_log_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")
    honest, lying = tmp_path / "honest.eval", tmp_path / "lying.eval"
    with zipfile.ZipFile(honest, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("header.json", "w") as member:
        for _ in range(400):
            member.write(b" " * (1 << 20))
    data = honest.read_bytes()
    lying.write_bytes(data.replace((400 << 20).to_bytes(4, "little"), (1 << 20).to_bytes(4, "little")))
    source = open_source("inspect", tmp_path)
    quarantine = Quarantine()
    assert list(source.tasks(quarantine)) == []
    reasons = {item.file: item.reason for item in quarantine.items}
    assert "unpacks to more than" in reasons["honest.eval"]
    assert "cannot read the log" in reasons["lying.eval"]


# Numbers that JSON has not, and depth.


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_costs_its_record_with_a_reason(tmp_path: Path, number: str) -> None:
    bad = task("b").replace('"metadata": {}', f'"metadata": {{"x": {number}}}')
    assert number in bad
    tasks, (item,) = native(tmp_path, f"{task('a')}\n{bad}\n{task('c')}\n".encode())
    assert tasks == ["a", "c"] and item.line == 2 and "not finite" in item.reason
    (tmp_path / "rows.json").write_text(f"[{chat('a')}, {chat('b', x=1).replace(': 1', f': {number}')}, {chat('c')}]")
    quarantine = Quarantine()
    assert [found.id for found in Chat(tmp_path / "rows.json").tasks(quarantine)] == ["a", "c"]
    assert "not finite" in quarantine.items[0].reason and quarantine.items[0].pointer == "/1"


def test_an_infinite_number_of_a_table_costs_its_row(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"x": [1.0, float("inf"), float("nan"), 2.0]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    quarantine = Quarantine()
    rows = [row.values["x"] for row in read_rows(tmp_path / "rows.parquet", "rows.parquet", quarantine)]
    assert rows == [1.0, None, 2.0]
    assert "not finite" in quarantine.items[0].reason


def test_deep_nesting_costs_one_record(tmp_path: Path) -> None:
    tasks, (item,) = native(tmp_path, f"{task('a')}\n{DEEP}\n{task('b')}\n".encode())
    assert tasks == ["a", "b"] and "nested more than 100 levels" in item.reason
    nested = f'{{"id": "b", "x": {DEEP}"]"{"]" * 200_000}}}'
    (tmp_path / "rows.json").write_text(f"[{chat('a')}, {nested}, {chat('c')}]")
    quarantine = Quarantine()
    assert [found.id for found in Chat(tmp_path / "rows.json").tasks(quarantine)] == ["a", "c"]
    assert ["nested more than 100 levels" in item.reason for item in quarantine.items] == [True]


def test_deep_nesting_in_runs_costs_one_run(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text(task("a"))
    run = json.dumps({"task_id": "a", "model": "m", "passed": True, "score": 1.0})
    (tmp_path / "runs.jsonl").write_text(f'{DEEP}\n{run}\n{run[:-1]}, "usage": {{"x": NaN}}}}\n')
    quarantine = Quarantine()
    found = list(read_runs(Native(tmp_path), tmp_path / "runs.jsonl", quarantine))
    assert [found_run.model for found_run in found] == ["m"]
    assert [item.line for item in quarantine.items] == [1, 3]


# YAML.


def raised(read: Callable[[], object]) -> str:
    with pytest.raises((PolicyError, SourceError, TaxonomyError, CommandError, yaml.YAMLError)) as caught:
        read()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 20_000, "nested more than 100 levels"),
        ("{" * 20_000, "nested more than 100 levels"),
        ("- " * 20_000, "nested more than 100 levels"),
        ("\n".join(f"{' ' * i}a:" for i in range(500)), "nested more than 100 levels"),
        ("a: &a [*a]", "contains the alias"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{c}: &{c} [{','.join(f'*{p}' for _ in range(9))}]\n"
                for p, c in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            "expand to more than",
        ),
        ("a: " + "x" * (1 << 20), "longer than 1 MiB"),
        ("a: 2024-99-99", "cannot be read"),
    ],
)
def test_hostile_yaml_is_answered_at_once_wherever_yaml_is_read(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_text(text)
    began = time.process_time()
    assert reason in raised(lambda: load_yaml(text))
    for read in (load_policy, load_taxonomy, load_config, MappingSource):
        message = raised(lambda read=read: read(path))  # type: ignore[misc]
        assert reason in message and str(path) in message and len(message) < 500
    assert time.process_time() - began < 5


def test_plain_yaml_is_read_as_before() -> None:
    assert load_yaml("a: &x {b: 1}\nc: *x\nd: [1, 2.5, yes, null, 2024-05-01]\n") == {
        **yaml.safe_load("a: {b: 1}\nc: {b: 1}\nd: [1, 2.5, yes, null, 2024-05-01]")
    }
    assert load_yaml("") is None


# BFCL and τ².


def test_bfcl_goes_on_past_odd_lines(tmp_path: Path) -> None:
    line = '{"id": "irrelevance_%d", "question": [[{"role": "user", "content": "x"}]], "function": []}\n'
    text = line % 0 + DEEP + "\n" + (line % 1).replace("[]}", '[], "x": NaN}') + line % 2
    (tmp_path / "BFCL_v3_irrelevance.json").write_bytes(BOM + text.encode())
    quarantine = Quarantine()
    assert [found.id for found in BFCL(tmp_path).tasks(quarantine)] == ["irrelevance_0", "irrelevance_2"]
    assert [item.line for item in quarantine.items] == [2, 3]
