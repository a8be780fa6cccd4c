import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from agenthard.audit.sources.formats import json_stream
from agenthard.audit.sources.formats.json_stream import JsonStreamError, Member, stream_members


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_elements_of_an_array_come_with_their_positions(tmp_path: Path) -> None:
    path = _file(tmp_path, ' [ {"a": 1} , 20,"x"]\n')
    assert list(stream_members(path)) == [Member("", 0, {"a": 1}), Member("", 1, 20), Member("", 2, "x")]
    assert [member.pointer for member in stream_members(path)] == ["/0", "/1", "/2"]


def test_arrays_inside_an_object_are_given_element_by_element(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"info": {"k": [1]}, "runs": [{"n": 1}, {"n": 2}], "empty": [], "n": 7}')
    found = list(stream_members(path))
    assert found == [
        Member("info", None, {"k": [1]}),
        Member("runs", 0, {"n": 1}),
        Member("runs", 1, {"n": 2}),
        Member("n", None, 7),
    ]
    assert [member.pointer for member in found] == ["/info", "/runs/0", "/runs/1", "/n"]


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_values_that_cross_block_borders_are_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    value = {"numbers": [123456, -1.5e10, True], "text": 'é "quoted" ] }'}
    monkeypatch.setattr(json_stream, "_BLOCK", block)
    path = _file(tmp_path, json.dumps([value, 987654, value], indent=2, ensure_ascii=False))
    assert [member.value for member in stream_members(path)] == [value, 987654, value]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1}, {"a": ', "Expecting value"),
        ('[{"a": 1}', "cut off"),
        ('[{"a": 1} {"a": 2}]', "expected ','"),
        ('[{"a": 1}, nonsense]', "Expecting value"),
    ],
)
def test_damage_is_reported_after_what_was_good(tmp_path: Path, text: str, message: str) -> None:
    members = stream_members(_file(tmp_path, text))
    assert next(members).value == {"a": 1}
    with pytest.raises(JsonStreamError, match=message):
        next(members)


@pytest.mark.parametrize("text", ["", "   ", "7", '"text"', "[" * 100_000])
def test_what_is_no_document_of_members_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(JsonStreamError):
        list(stream_members(_file(tmp_path, text)))


def test_truncated_gzip_and_wrong_encoding_are_errors(tmp_path: Path) -> None:
    packed = tmp_path / "log.json.gz"
    packed.write_bytes(gzip.compress(json.dumps([{"a": "x" * 50_000}] * 3).encode())[:-20])
    with pytest.raises(JsonStreamError):
        list(stream_members(packed))
    latin = tmp_path / "latin.json"
    latin.write_bytes('["é"]'.encode("latin-1"))
    with pytest.raises(JsonStreamError):
        list(stream_members(latin))


def test_half_a_surrogate_pair_does_not_cost_the_run(tmp_path: Path) -> None:
    path = _file(tmp_path, r'[{"cut": "ok \ud83d", "whole": "\ud83d\ude00"}, {"n": 1}]')
    assert [member.value for member in stream_members(path)] == [{"cut": "ok ?", "whole": "\U0001f600"}, {"n": 1}]


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    element = json.dumps({"text": "x" * 100_000})
    with path.open("w") as stream:
        stream.write("[" + ",".join([element] * 300) + "]")
    assert path.stat().st_size > 30_000_000
    tracemalloc.start()
    try:
        count = sum(1 for _ in stream_members(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 300
    assert peak < 12_000_000
