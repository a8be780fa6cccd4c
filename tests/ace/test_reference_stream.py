"""The streaming reader of the paper's layout: it gives what the whole reader gives, and goes as far as a file goes."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.ace import reference_format
from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.instance import Instance
from agenthard.ace.reference_stream import read_header, scan
from tests.ace.environment.small import instance, write_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_file(tmp_path)


def rewritten(path: Path, change: Any, **options: Any) -> Path:
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content, **options), encoding="utf-8")
    return path


def reasons(path: Path) -> list[str]:
    return [each.reason for each in scan(path) if isinstance(each, Unreadable)]


def test_it_gives_what_the_whole_reader_gives(path: Path) -> None:
    whole = reference_format.read(path)
    assert tuple(scan(path)) == whole.instances == (instance("course_r2_c2_h2_b2"), instance("course_again"))
    assert read_header(path) == (whole.header, 2)
    packed = path.with_name("packed.json.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert tuple(scan(packed)) == whole.instances


def test_the_order_of_keys_and_spaces_do_not_matter(path: Path) -> None:
    expected = list(scan(path))
    assert list(scan(rewritten(path, lambda content: None, sort_keys=True))) == expected
    assert list(scan(rewritten(path, lambda content: None, separators=(",", ":")))) == expected


def test_an_instance_that_departs_is_set_aside(path: Path) -> None:
    first, second = scan(rewritten(path, lambda content: content["instances"][0].update(meta=None)))
    assert isinstance(first, Unreadable) and (first.index, first.id) == (0, "course_r2_c2_h2_b2")
    assert second == instance("course_again")


def test_a_file_that_breaks_off_is_read_so_far(path: Path) -> None:
    text = path.read_bytes()
    path.write_bytes(text[: text.index(b'"course_again"')])
    first, end = scan(path)
    assert first == instance("course_r2_c2_h2_b2")
    assert isinstance(end, Unreadable) and end.index == 1 and "not JSON from here on" in end.reason
    packed = path.with_name("packed.json.gz")
    packed.write_bytes(gzip.compress(text)[:-30])
    with pytest.raises(MalformedInstanceError, match="not JSON: Compressed file ended"):
        list(scan(packed))


def test_another_count_than_announced_is_said(path: Path) -> None:
    rewritten(path, lambda content: content["instances"].pop())
    assert reasons(path) == ["the file says that it holds 2 instances; it holds 1"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not JSON"),
        (b"nonsense", "not JSON"),
        (b'{"domain": "course"', "not JSON"),
        (b"[1, 2]", r"not JSON: expected '{', found '\['"),
        (b'{"a": 1} 2', "something follows"),
        (b"{1: 2}", "a key is not text"),
        (b'{"instances": 5}', "no list under 'instances'"),
        (b'{"instances": []}', "the header has no key 'domain'"),
        (b'\xff{"instances": []}', "not JSON"),
    ],
)
def test_what_is_no_such_file_is_refused(path: Path, text: bytes, reason: str) -> None:
    path.write_bytes(text)
    with pytest.raises(MalformedInstanceError, match=reason):
        list(scan(path))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": "2"}, "the header has a part of the wrong type"),
        ({"extra": 1}, "/extra is not part of the layout"),
        ({"num_instances": "2"}, '/num_instances is "2"'),
    ],
)
def test_a_wrong_header_is_named(path: Path, changes: dict[str, Any], reason: str) -> None:
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps({**changes, **{k: v for k, v in content.items() if k not in changes}}))
    with pytest.raises(MalformedInstanceError, match=reason):
        list(scan(path))


def test_deep_nesting_ends_the_file(path: Path) -> None:
    text = path.read_text()
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text(text.replace('"task_instruction": "', f'"row_constraints": {deep}, "task_instruction": "', 1))
    (end,) = scan(path)
    assert isinstance(end, Unreadable) and "cannot be read: maximum recursion depth" in end.reason


def test_an_instance_is_read_over_the_ends_of_what_is_read_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenthard.audit.sources.formats.json_stream._BLOCK", 7)
    assert tuple(scan(path)) == reference_format.read(path).instances


def test_an_entry_without_an_end_is_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenthard.audit.sources.formats.json_stream.MAX_RECORD_BYTES", 1000)
    monkeypatch.setattr("agenthard.audit.sources.formats.json_stream._BLOCK", 100)
    text = path.read_bytes()
    path.write_bytes(text[: text.index(b'"course_again"')] + b'"' + b"x" * 9000)
    assert "Unterminated string" in reasons(path)[0]


def test_characters_of_several_bytes_are_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agenthard.audit.sources.formats.json_stream._BLOCK", 1)
    path.write_text(path.read_text().replace("Algebra 101", "Algèbre 101 𝔸"), encoding="utf-8")
    first = next(scan(path))
    assert isinstance(first, Instance) and first.puzzle.items["C1"]["name"] == "Algèbre 101 𝔸"
