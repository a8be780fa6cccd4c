"""The result of an audit: written, read, and as data frames."""

from pathlib import Path

import pandas
import pytest

import agenthard as ah
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import CommandError, RunFolderError, UsageError


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_demo(tmp_path_factory.mktemp("benchmark") / "demo").root


@pytest.fixture(scope="module")
def result(benchmark: Path) -> ah.AuditResult:
    return ah.audit(ah.open_source("native", benchmark))


@pytest.fixture(scope="module")
def folder(result: ah.AuditResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result.write(tmp_path_factory.mktemp("written") / "run")


def test_reading_gives_what_was_written(result: ah.AuditResult, folder: Path) -> None:
    read = ah.AuditResult.read(folder)
    assert read == result
    assert list(read.tasks) == list(result.tasks)
    assert read.split_id == result.split_id
    assert repr(read) == repr(result)


@pytest.mark.parametrize("name", ["findings", "decisions", "coverage", "tasks"])
def test_frames_in_memory_are_those_of_the_tables(name: str, result: ah.AuditResult, folder: Path) -> None:
    ours = getattr(result, f"{name}_frame")()
    read = getattr(ah.AuditResult.read(folder), f"{name}_frame")()
    pandas.testing.assert_frame_equal(ours, read)
    assert len(ours) == len(getattr(result, name))


def test_the_split_is_the_one_that_is_announced(result: ah.AuditResult, folder: Path) -> None:
    lines = (folder / "split/cleaned/tasks.jsonl").read_text().splitlines()
    assert len(lines) == len(result.kept_ids)
    assert result.split_id in (folder / "split/cleaned/manifest.json").read_text()


def test_a_read_result_is_written_as_a_copy(folder: Path, tmp_path: Path) -> None:
    read = ah.AuditResult.read(folder)
    assert read.write(folder) == folder
    copy = read.write(tmp_path / "copy")
    assert (copy / "findings.json").read_bytes() == (folder / "findings.json").read_bytes()
    with pytest.raises(UsageError, match="not empty"):
        read.write(copy.parent)


def test_a_folder_with_other_content_is_not_written(result: ah.AuditResult, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError):
        result.write(tmp_path)


def test_a_folder_without_an_audit_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no finished audit here"):
        ah.AuditResult.read(tmp_path)
