"""A shard's result on disk: nothing is lost, equal results give equal bytes, a torn file is refused."""

import zipfile
from pathlib import Path

import pytest

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Observation
from agenthard.audit.shard_file import read_shard_file, write_shard_file
from agenthard.audit.shards import ShardResult
from agenthard.taxonomy import Coverage, Status

NOTES = (Observation(task_id="a", key="k", value={"n": [1, "é"]}), Observation(task_id="b", key="k\n"))
ROWS = (
    Coverage(task_id="a", check="x", status=Status.CLEAN),
    Coverage(task_id="b", check="x", status=Status.ERROR, reason="KeyError: 'ü'"),
)
RESULT = ShardResult(CoverageTable.of(ROWS), observations={"x": NOTES, "y": ()})


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    write_shard_file(tmp_path / "one.zip", RESULT)
    found = read_shard_file(tmp_path / "one.zip")
    assert tuple(found.coverage) == ROWS and found.hits == ()
    assert tuple(found.observations["x"]) == NOTES
    assert found.observations.get("y", ()) == ()


def test_equal_results_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        write_shard_file(tmp_path / name, RESULT)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.zip"
    write_shard_file(path, RESULT)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(zipfile.BadZipFile):
        read_shard_file(path)
