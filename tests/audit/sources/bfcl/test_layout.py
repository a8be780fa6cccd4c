import shutil
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.bfcl import BFCL


@pytest.mark.parametrize(
    "place",
    [
        ".",
        "data",
        "bfcl_eval/data",
        "berkeley-function-call-leaderboard/data",
        "berkeley-function-call-leaderboard/bfcl_eval/data",
        "lib/python3.12/site-packages/bfcl_eval/data",
    ],
)
def test_the_files_are_found_from_any_folder_above(v3: Path, tmp_path: Path, place: str) -> None:
    shutil.copytree(v3 / "data", tmp_path / place, dirs_exist_ok=True)
    assert BFCL.recognises(tmp_path)
    source = BFCL(tmp_path)
    tasks = list(source.tasks(Quarantine()))
    assert len(tasks) == 19
    assert (tmp_path / tasks[0].origins[""].file).name == "BFCL_v3_simple.json"
    assert source.version().content_hash == BFCL(v3).version().content_hash


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text("[]")
    assert not BFCL.recognises(tmp_path)
    with pytest.raises(
        SourceError, match=r"no BFCL question files .* looked for BFCL_v3_\*\.json and BFCL_v4_\*\.json"
    ):
        BFCL(tmp_path)
    with pytest.raises(SourceError, match="no folder"):
        BFCL(tmp_path / "absent")


def test_run_files_do_not_make_a_folder_bfcl(tmp_path: Path) -> None:
    (tmp_path / "BFCL_v3_simple_result.json").write_text("{}\n")
    (tmp_path / "BFCL_v3_simple_score.json").write_text("{}\n")
    assert not BFCL.recognises(tmp_path)


def test_an_unknown_category_is_refused_with_the_known_ones(v3: Path) -> None:
    with pytest.raises(SourceError, match="unknown BFCL category: memory_kv, rest; this copy has: simple, multiple, "):
        BFCL(v3, ["simple", "rest", "memory_kv"])


def test_only_the_chosen_categories_are_read_and_hashed(v3: Path) -> None:
    source = BFCL(v3, ["live_simple", "parallel"])
    assert [task.id for task in source.tasks(Quarantine())] == ["parallel_0", "live_simple_0-0-0"]
    assert source.version().files == 4 + 2
    assert source.version().content_hash != BFCL(v3).version().content_hash


def test_the_hash_follows_the_content(v3_copy: Path) -> None:
    before = BFCL(v3_copy).version()
    assert (before.label, before.files) == ("v3", 17 + 14 + 2)
    answers = v3_copy / "data/possible_answer/BFCL_v3_simple.json"
    answers.write_bytes(answers.read_bytes().replace(b"rye bread", b"rye loaf"))
    assert BFCL(v3_copy).version().content_hash != before.content_hash


def test_the_label_names_the_package(v4: Path, tmp_path: Path) -> None:
    shutil.copytree(v4, tmp_path, dirs_exist_ok=True)
    (tmp_path / "bfcl_eval-2026.3.23.dist-info").mkdir()
    assert BFCL(tmp_path).version().label == "v4, bfcl-eval 2026.3.23"


@pytest.mark.parametrize("head", ["0123456789abcdef0123", "ref: refs/heads/main"])
def test_the_label_names_the_commit_of_a_checkout(v3: Path, tmp_path: Path, head: str) -> None:
    shutil.copytree(v3 / "data", tmp_path / "berkeley-function-call-leaderboard/data")
    (tmp_path / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text(head + "\n")
    (tmp_path / ".git/refs/heads/main").write_text("0123456789abcdef0123\n")
    assert BFCL(tmp_path).version().label == "v3, commit 01234567"


def test_of_two_versions_the_newer_one_counts(v3_copy: Path, v4: Path) -> None:
    shutil.copytree(v4 / "bfcl_eval/data", v3_copy / "data", dirs_exist_ok=True)
    subtasks = {task.subtask for task in BFCL(v3_copy).tasks(Quarantine())}
    assert "simple_python" in subtasks and "simple" not in subtasks
