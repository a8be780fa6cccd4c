"""Versions of a published split follow from what changed in it."""

from pathlib import Path

import pytest

from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.versions import parse_version, read_publication
from agenthard.taxonomy import AgentTask, EnvironmentSpec
from tests.builders import LEND
from tests.flows.publishing.conftest import Audit, contents, lending, library, published


def reworded(number: int) -> AgentTask:
    turns = [[{"role": "user", "content": f"Please lend book {number} to Member {number}, today."}]]
    return lending(number, number + 1, user={"kind": "scripted", "turns": turns})


def test_the_first_publication_is_1_0_0(audit: Audit, tmp_path: Path) -> None:
    made = published(audit(library()), tmp_path / "out")
    assert (made.version, made.level, made.changed) == ("1.0.0", "first", True)
    assert made.counts["kept"] == 4 and made.counts["removed"] == 2
    assert made.do_not_compare_with == ()


def test_the_same_content_has_the_same_version_and_the_same_bytes(audit: Audit, tmp_path: Path) -> None:
    run = audit(library())
    published(run, tmp_path / "one")
    again = published(run, tmp_path / "two", previous=str(tmp_path / "one"))
    assert (again.version, again.changed, again.level, again.changes) == ("1.0.0", False, None, ())
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_the_publication_in_the_folder_is_the_previous_one(audit: Audit, tmp_path: Path) -> None:
    run = audit(library())
    published(run, tmp_path / "out")
    before = contents(tmp_path / "out")
    assert published(run, tmp_path / "out").changed is False
    assert contents(tmp_path / "out") == before


def test_a_kill_while_a_publication_is_replaced_keeps_its_history(
    audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, fewer = tmp_path / "out", library(t3=lending(3, "four"))
    published(audit(library()), out)
    run, rename = audit(fewer), Path.rename

    def killed(path: Path, target: Path) -> Path:
        if path.name == ".out.partial":
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", killed)
        published(run, out)
    assert not out.exists()  # it was moved away, and nothing is in its place yet
    made = published(run, out)
    assert (made.version, made.level) == ("1.1.0", "minor")
    assert sorted(path.name for path in tmp_path.glob("*out*")) == ["out"]


def test_a_removal_and_a_task_put_back_are_minor(audit: Audit, tmp_path: Path) -> None:
    out = tmp_path / "out"
    published(audit(library()), out)
    fewer = published(audit(library(t3=lending(3, "four"))), out)
    assert (fewer.version, fewer.level, fewer.do_not_compare_with) == ("1.1.0", "minor", ("1.0.0",))
    assert fewer.changes == ("removed: 1 task (lib/3)",)
    back = published(audit(library()), out)
    assert (back.version, back.do_not_compare_with) == ("1.2.0", ("1.0.0", "1.1.0"))
    assert back.changes == ("added or put back: 1 task (lib/3)",)
    log = (out / "CHANGELOG.md").read_text()
    assert log.index("## 1.2.0 (minor)") < log.index("## 1.1.0 (minor)") < log.index("## 1.0.0 (first)")
    assert "**Do not compare** its scores with those of 1.1.0, 1.0.0." in log


@pytest.mark.parametrize(
    "change",
    [
        {"t1": reworded(1)},
        {"t1": lending(1, 7)},
        {"t1": lending(1, 2, environment={"tools": [LEND.model_copy(update={"description": "Lends a book."})]})},
        {"t1": lending(1, 2, traits=["redundant_calls_free"])},
        {"t1": lending(1, 2, evaluation={"checks": [{"kind": "tool_calls", "scored": False}]})},
        {"t1": lending(1, 2, environment=EnvironmentSpec(tools=lending(1, 2).environment.tools, policy="Be polite."))},
    ],
    ids=["words", "ground truth", "tools", "conventions", "scoring", "policy"],
)
def test_a_change_that_a_score_depends_on_is_major(change: dict[str, AgentTask], audit: Audit, tmp_path: Path) -> None:
    out = tmp_path / "out"
    published(audit(library()), out)
    made = published(audit(library(**change)), out)
    assert (made.version, made.level, made.do_not_compare_with) == ("2.0.0", "major", ("1.0.0",))
    assert "changed in what a score depends on: 1 task (lib/1)" in made.changes


def test_a_change_of_documentation_is_a_patch_and_its_scores_can_be_compared(audit: Audit, tmp_path: Path) -> None:
    out = tmp_path / "out"
    published(audit(library()), out)
    (tmp_path / "library" / "LICENSE").write_text("Permission is hereby granted, free of charge ...", encoding="utf-8")
    made = published(audit(library()), out)
    assert (made.version, made.level, made.do_not_compare_with) == ("1.0.1", "patch", ())


def test_a_manifest_alone_is_enough_to_compare_with(audit: Audit, tmp_path: Path) -> None:
    published(audit(library()), tmp_path / "one")
    manifest = tmp_path / "kept.json"
    manifest.write_bytes((tmp_path / "one" / "manifest.json").read_bytes())
    made = published(audit(library(t1=reworded(1))), tmp_path / "two", previous=str(manifest))
    assert made.version == "2.0.0"
    assert [each.version for each in read_publication(tmp_path / "two").history] == ["1.0.0", "2.0.0"]


def test_a_version_may_be_higher_than_the_rules_ask_for_and_never_lower(audit: Audit, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert published(audit(library()), out, version="0.3.0").version == "0.3.0"
    run = audit(library(t1=reworded(1)))
    with pytest.raises(CommandError, match=r"--version 0\.4\.0: too low; 0\.3\.0 .* major .* 1\.0\.0 or higher"):
        published(run, out, version="0.4.0")
    assert read_publication(out).version == "0.3.0"  # the refusal left it as it was
    assert published(run, out, version="3.0.0").version == "3.0.0"


@pytest.mark.parametrize("text", ["1", "1.0", "v1.0.0", "1.0.0-rc", "01.0.0", ""])
def test_other_words_are_no_versions(text: str) -> None:
    with pytest.raises(CommandError, match="is not a version"):
        parse_version(text)


def test_another_split_or_another_name_is_no_continuation(audit: Audit, tmp_path: Path) -> None:
    run, out = audit(library()), tmp_path / "out"
    published(run, out, name="Lending")
    assert published(run, out).name == "Lending"
    with pytest.raises(CommandError, match="is named 'Lending', not 'Borrowing'"):
        published(run, out, name="Borrowing")
    manifest = read_publication(out).model_copy(update={"split": "hard"})
    (tmp_path / "hard.json").write_text(manifest.model_dump_json(), encoding="utf-8")
    with pytest.raises(CommandError, match="the previous publication is the hard split of native"):
        published(run, tmp_path / "other", previous=str(tmp_path / "hard.json"))
