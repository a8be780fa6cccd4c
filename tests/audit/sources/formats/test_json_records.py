"""Readers lose nothing: bad records are named with their place, and the rest goes on."""

import gzip
import json
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats import files
from agenthard.audit.sources.formats.files import copy_lines
from agenthard.audit.sources.formats.json_records import copy_elements, read_json_array, read_jsonl
from agenthard.audit.sources.formats.json_text import line_of


def test_a_bad_line_is_quarantined_with_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b'{"id": 1}\n{"id": 2\n\n{"id": "\xff"}\n[3]\r\n{"id": 4}')
    quarantine = Quarantine()
    records = list(read_jsonl(file, "t.jsonl", quarantine))
    assert [(r.value["id"], r.line) for r in records] == [(1, 1), (4, 6)]
    assert [(q.line, q.reason.split(";")[0]) for q in quarantine.items] == [
        (2, "not valid JSON: Expecting ',' delimiter: line 1 column 9 (char 8)"),
        (4, "not UTF-8 at byte 8 of the line"),
        (5, "expected a JSON object, found list"),
    ]


def test_a_huge_line_is_passed_over_without_being_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_RECORD_BYTES", 1000)
    file = tmp_path / "t.jsonl"
    file.write_bytes(b'{"id": 1}\n{"id": "' + b"x" * 5000 + b'"}\n{"id": 3}\n')
    quarantine = Quarantine()
    assert [r.value["id"] for r in read_jsonl(file, "t.jsonl", quarantine)] == [1, 3]
    assert quarantine.items[0].line == 2
    assert "longer than" in quarantine.items[0].reason


def test_empty_and_cut_off_files_say_so(tmp_path: Path) -> None:
    quarantine = Quarantine()
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1}\n' * 5000)[:-20])
    assert list(read_jsonl(tmp_path / "empty.jsonl", "empty.jsonl", quarantine)) == []
    assert len(list(read_jsonl(tmp_path / "cut.jsonl.gz", "cut.jsonl.gz", quarantine))) > 0
    assert [q.reason.split(":")[0] for q in quarantine.items] == [
        "the file holds no records; expected one JSON object per line",
        "cannot read the file to its end",
    ]


def test_a_damaged_array_keeps_what_stands_before_the_damage(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text('[\n {"id": 1},\n 7,\n {"id": 2},\n {"id": \n')
    quarantine = Quarantine()
    records = list(read_json_array(file, "tasks.json", quarantine))
    assert [(r.value["id"], r.line, r.index) for r in records] == [(1, 2, 0), (2, 4, 2)]
    assert [(q.pointer, q.line) for q in quarantine.items] == [("/1", 3), ("/3", 5)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b'{"a": 1}', "expected a JSON array"),
        (b'[{"a": 1}', "not closed"),
        (b'[{"a": "\xff"}]', "UTF-8"),
    ],
)
def test_what_is_no_array_says_so(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "tasks.json"
    file.write_bytes(content)
    quarantine = Quarantine()
    list(read_json_array(file, "tasks.json", quarantine))
    assert reason in quarantine.items[0].reason


def test_half_a_character_is_refused_everywhere(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "\\ud83d"}\n{"id": "\\ud83d\\ude00"}\n')
    (tmp_path / "a.json").write_text('[{"\\ud83d": 1}, {"id": "\\ud83d\\ude00"}]')
    quarantine = Quarantine()
    assert len(list(read_jsonl(tmp_path / "a.jsonl", "a.jsonl", quarantine))) == 1
    assert len(list(read_json_array(tmp_path / "a.json", "a.json", quarantine))) == 1
    assert ["surrogates" in item.reason for item in quarantine.items] == [True, True]


def test_kept_records_are_copied_byte_for_byte(tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_bytes(b'{"a":1}\n{ "b" : 2 }\n{"c": "\\u00e9"}')
    assert copy_lines(lines, tmp_path / "out.jsonl", {2, 3}) == 2
    assert (tmp_path / "out.jsonl").read_bytes() == b'{ "b" : 2 }\n{"c": "\\u00e9"}\n'
    array = tmp_path / "a.json"
    array.write_bytes(b'[ {"a":1}, { "b" : [ 2 ] },\n{"c":3} ]')
    assert copy_elements(array, tmp_path / "out.json", {1}) == 1
    assert b'{ "b" : [ 2 ] }' in (tmp_path / "out.json").read_bytes()
    assert json.loads((tmp_path / "out.json").read_bytes()) == [{"b": [2]}]
    copy_elements(array, tmp_path / "none.json", set())
    assert json.loads((tmp_path / "none.json").read_bytes()) == []


def test_lines_of_pointers() -> None:
    text = '{\n "a": [\n  1,\n  {"b": "x",\n   "c": 2}\n ]\n}'
    assert [line_of(text, p) for p in ("", "/a", "/a/0", "/a/1", "/a/1/c", "/a/9")] == [1, 2, 3, 4, 5, 2]
