"""``agenthard faults``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.categories import load_taxonomy


def invoke(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["faults", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.long
def test_flaws_of_every_category_are_planted_into_generated_tasks(tmp_path: Path) -> None:
    shown = invoke("plant", "--out", str(tmp_path), "--per-category", "1", "--sound", "2", "--seed", "3", "--json")
    manifest = json.loads(shown)
    assert set(manifest["by_category"]) == {category.id for category in load_taxonomy().categories}
    assert manifest["untouched"]["ace"] >= 2 and manifest["untouched"]["demo"] >= 10
    assert (tmp_path / "benchmark" / "runs.jsonl").is_file()


@pytest.mark.long
def test_flaws_are_planted_into_tasks_that_the_audit_leaves_clean(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["ace", "generate", "--out", str(tmp_path / "s"), "-H", "2", "-B", "2", "--per-cell", "3", "-K", "10"]
    )
    assert done.exit_code == 0, done.output
    out = tmp_path / "out"
    manifest = json.loads(
        invoke("plant", "ace", str(tmp_path / "s"), "--out", str(out), "--per-category", "1", "--sound", "0", "--json")
    )
    assert manifest["planted"] >= 9 and manifest["sound_tasks_from"].startswith("ace: the audit finds nothing")
    lines = [json.loads(line) for line in (out / "benchmark" / "tasks.jsonl").read_text().splitlines()]
    assert {line["benchmark"] for line in lines} == {"ace"}


def test_operators_are_listed() -> None:
    listed = json.loads(invoke("operators", "--json"))
    assert {"id": "lost-turn", "category": "incorrect-tool-call"}.items() <= {
        **next(each for each in listed if each["id"] == "lost-turn")
    }.items()
    assert "`lost-turn`" in invoke("operators", "--markdown")


def test_a_source_needs_its_folder() -> None:
    with pytest.raises(CommandError, match="give a source and its folder"):
        CliRunner().invoke(app, ["faults", "plant", "ace"], catch_exceptions=False)


def test_a_missing_key_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="agenthard faults plant"):
        CliRunner().invoke(app, ["faults", "score", str(tmp_path), str(tmp_path / "none")], catch_exceptions=False)
