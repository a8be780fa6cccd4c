from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask

Read = Callable[[Path], dict[str, AgentTask]]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def test_a_split_has_the_same_layout_and_the_same_bytes(v3: Path, tmp_path: Path, read: Read) -> None:
    out = tmp_path / "out"
    keep = ["simple_1", "irrelevance_0", "multi_turn_base_0"]
    written = BFCL(v3).write_split(keep, out)
    assert sorted(path.relative_to(out).as_posix() for path in written) == [
        "BFCL_v3_irrelevance.json",
        "BFCL_v3_multi_turn_base.json",
        "BFCL_v3_simple.json",
        "multi_turn_func_doc/math_api.json",
        "multi_turn_func_doc/message_api.json",
        "possible_answer/BFCL_v3_multi_turn_base.json",
        "possible_answer/BFCL_v3_simple.json",
    ]
    for name in ("BFCL_v3_simple.json", "possible_answer/BFCL_v3_simple.json"):
        assert lines(out / name) == lines(v3 / "data" / name)[1:]
    docs = "multi_turn_func_doc/math_api.json"
    assert (out / docs).read_bytes() == (v3 / "data" / docs).read_bytes()
    assert list(read(out)) == keep


def test_keeping_everything_copies_everything(v3: Path, tmp_path: Path, read: Read) -> None:
    source = BFCL(v3)
    source.write_split(list(read(v3)), tmp_path / "out")
    assert BFCL(tmp_path / "out").version().content_hash == source.version().content_hash


def test_a_line_that_serves_several_tasks_is_written_when_one_is_kept(v4: Path, tmp_path: Path, read: Read) -> None:
    BFCL(v4).write_split(["memory_vector_1-sailor-1"], tmp_path / "out")
    assert list(read(tmp_path / "out")) == [f"memory_{name}_1-sailor-1" for name in ("kv", "vector", "rec_sum")]
    assert (tmp_path / "out/memory_prereq_conversation/memory_sailor.json").is_file()
    assert (tmp_path / "out/BFCL_v4_format_sensitivity.json").is_file()


def test_an_unknown_id_is_refused_before_anything_is_written(v3: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such task .* simple_7"):
        BFCL(v3).write_split(["simple_0", "simple_7"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
