import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError

from agenthard.audit.sources.tau.records import Native, explain, release_label
from agenthard.audit.sources.tau.tool_files import without_dangling_refs

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Inner(Native):
    number: int


class Outer(Native):
    items: list[Inner]
    either: Inner | str


def _fault(value: object) -> tuple[str, str]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(value)
    return explain(caught.value, value)


def test_the_first_fault_is_pointed_at_and_all_are_named() -> None:
    pointer, reason = _fault({"items": [{"number": 1}, {"number": "2"}], "either": "x"})
    assert pointer == "/items/1/number"
    assert "valid integer" in reason and "fix the record" in reason
    assert _fault({"either": "x"})[0] == "/items"
    assert _fault({"items": "x", "either": "x"})[0] == "/items"
    assert _fault([])[0] == ""


def test_names_of_union_members_are_no_part_of_the_pointer() -> None:
    assert _fault({"items": [], "either": {"number": "2"}})[0] == "/either/number"


def test_many_faults_are_counted() -> None:
    _, reason = _fault({"items": [{"number": "x"}] * 5, "either": "x"})
    assert "and 2 more" in reason


@pytest.mark.parametrize(
    ("folder", "label"),
    [
        ("tau-bench_59a200c", "59a200c"),
        ("tau2-bench_v0.1.3", "v0.1.3"),
        ("tau2-bench-0.2.0", "0.2.0"),
        ("tau-bench", "unknown"),
        ("my_benchmark", "unknown"),
    ],
)
def test_the_folders_name_tells_the_release_when_nothing_else_does(tmp_path: Path, folder: str, label: str) -> None:
    root = tmp_path / folder
    root.mkdir()
    assert release_label(root) == label


def test_project_version_and_commit_come_first(tmp_path: Path) -> None:
    root = tmp_path / "bench_1111111"
    (root / ".git" / "refs" / "heads").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "refs" / "heads" / "main").write_text(COMMIT + "\n")
    assert release_label(root) == "0123456"
    (root / "pyproject.toml").write_text('[project]\nname = "bench"\nversion = "0.1.3"\n')
    assert release_label(root) == "v0.1.3@0123456"


def test_a_packed_and_a_detached_head_are_found(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n")
    assert release_label(tmp_path) == "0123456"
    (git / "HEAD").write_text("f" * 40 + "\n")
    assert release_label(tmp_path) == "fffffff"


def test_the_commit_agrees_with_git(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "-m", "first")
    assert release_label(tmp_path) == git("rev-parse", "HEAD")[:7]


def test_references_without_a_definition_become_titles() -> None:
    schema = {"$defs": {"A": {"type": "string"}}, "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B", "title": "t"}]}
    assert without_dangling_refs(schema)["anyOf"] == [{"$ref": "#/$defs/A"}, {"title": "B"}]
