"""Commands as a user types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

from agenthard.audit.detectors.measured import measured
from agenthard.audit.detectors.registry import detectors
from agenthard.flows.cli import app
from agenthard.flows.command_table import COMMANDS, PANELS, load_command
from agenthard.taxonomy.categories import load_taxonomy
from tests.flows.refusals import refused


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_every_command_has_help_with_an_example_and_json() -> None:
    commands = [name for name in COMMANDS if not isinstance(load_command(name), TyperGroup)]
    assert len(commands) >= 8
    for name in commands:
        text = run(name, "--help")
        assert "Example" in text and "--json" in text, name


def test_the_list_of_commands_shows_the_first_paragraph_of_each() -> None:
    shown = {name: summary for name, (_, summary) in COMMANDS.items()}
    assert shown == {name: " ".join(load_command(name).help.split("\n\n")[0].split()) for name in COMMANDS}
    assert {name: load_command(name).name for name in COMMANDS} == {name: name for name in COMMANDS}


def test_every_command_is_in_one_group_of_the_help() -> None:
    grouped = [name for names in PANELS.values() for name in names]
    assert sorted(grouped) == sorted(COMMANDS)
    shown = run("--help")
    assert all(f"\n{panel}:\n" in shown for panel in PANELS)


def complete(words: str) -> list[str]:
    """Return what bash would offer for the last word of a command line."""
    environment = {"_AGENTHARD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "from agenthard.flows.cli import app; app(prog_name='agenthard')"],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.long
def test_the_shell_completes_values(tmp_path: Path) -> None:
    assert complete("agenthard audit tau") == ["tau-bench", "tau2"]
    assert "call-schema" in complete("agenthard explain call")
    assert complete("agenthard findings run --check turn-c") == ["turn-count"]
    assert complete(f"agenthard show {tmp_path} x") == []


def test_values_have_names_that_people_know() -> None:
    text = run("audit", "--help") + run("judge", "run", "--help") + run("evaluate", "--help")
    for word in ("[SOURCE] [PATH]", "--out", "PATH", "MONEY", "BENCHMARK"):
        assert word in text
    assert "list[" not in text


def test_catalogues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {row["name"] for row in json.loads(run("sources", "--json"))} >= {"bfcl", "tau-bench", "tau2", "native"}
    assert [row["id"] for row in json.loads(run("checks", "--json"))] == [d.id for d in detectors()]
    assert len(json.loads(run("taxonomy", "--json"))["categories"]) == len(load_taxonomy().categories)
    assert "AgentTask" in json.loads(run("sources", "--schema"))
    monkeypatch.chdir(tmp_path)  # no run folder here
    listed, costs = run("checks"), run("checks", "--cost")
    for detector in detectors():
        assert detector.id in listed
    assert [check for check, figures in measured().items() if figures.cost and check not in costs] == []


@pytest.mark.parametrize("identity", [d.id for d in detectors()] + [c.id for c in load_taxonomy().categories])
def test_explain_knows_every_check_and_category(identity: str) -> None:
    assert len(json.loads(run("explain", identity, "--json"))["documentation"]) > 80


def test_an_unknown_id_gets_a_suggestion() -> None:
    assert "did you mean call-schema" in refused("explain", "cal-schema")


@pytest.mark.long
def test_wrong_input_is_one_message_and_exit_code_64(tmp_path: Path) -> None:
    assert "nothing at this path" in refused("audit", "native", str(tmp_path / "none"))
    assert "no source 'bfcll'" in refused("audit", "bfcll", str(tmp_path))
    (tmp_path / "tasks.jsonl").write_text("{}\n")
    assert "It looks like native" in refused("audit", "bfcl", str(tmp_path))
    assert "policy" in refused("audit", "native", str(tmp_path), "--policy", str(tmp_path / "none.yaml"))
    assert "no runs" in refused("audit", "native", str(tmp_path), "--runs", str(tmp_path / "none"))
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"task_id": "a", "flawed": true}\n')
    assert "no finished audit" in refused("score", str(tmp_path), "--labels", str(labels))
