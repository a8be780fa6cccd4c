"""``agenthard replay``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.ace.audit_task import INSTANCE
from agenthard.ace.execution import AceEnvironment
from agenthard.ace.source import AceBench
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.sources.base import Quarantine
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "ace"
    done = CliRunner().invoke(
        app, ["ace", "generate", "--out", str(folder), "-H", "3", "-B", "2", "--domain", "course"]
    )
    assert done.exit_code == 0, done.output
    return folder


def task_id(suite: Path) -> str:
    return next(AceBench(suite).tasks(Quarantine())).id


def test_the_ground_truth_step_by_step(suite: Path) -> None:
    shown = CliRunner().invoke(app, ["replay", "ace", str(suite), task_id(suite)])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("set_slot") == 3
    assert "/grid/" in shown.output and "verdict: passed (grid passes)" in shown.output
    result = json.loads(CliRunner().invoke(app, ["replay", "ace", str(suite), task_id(suite), "--json"]).output)
    assert result["verdict"]["passed"] and len(result["steps"]) == 3
    assert all(step["changes"] for step in result["steps"])


def test_a_mutant_is_rejected(suite: Path) -> None:
    base = ["replay", "ace", str(suite), task_id(suite), "--mutant"]
    listed = json.loads(CliRunner().invoke(app, [*base, "?", "--json"]).output)
    assert listed and {each["truth"] for each in listed} == {"wrong"}
    assert listed[0]["id"] in CliRunner().invoke(app, [*base, "?"]).output
    shown = CliRunner().invoke(app, [*base, listed[0]["id"]])
    assert "it is wrong" in shown.output and "verdict: rejected" in shown.output


def test_refusals_are_one_message(suite: Path) -> None:
    for arguments, words in (
        ([task_id(suite), "--mutant", "none"], "--mutant '?' lists them"),
        (["no-such-task"], "has no task 'no-such-task'"),
    ):
        done = CliRunner().invoke(app, ["replay", "ace", str(suite), *arguments])
        assert isinstance(done.exception, CommandError)
        assert words in str(done.exception)


def test_an_instance_that_cannot_be_played_is_unavailable(suite: Path) -> None:
    task = next(AceBench(suite).tasks(Quarantine()))
    environment = AceEnvironment()
    assert environment.evaluate(task, Attempt(turns=gold_turns(task))).passed
    assert not environment.evaluate(task, Attempt()).passed
    assert environment.supports(task.model_copy(update={"metadata": {}})) is not None
    broken = task.model_copy(update={"metadata": {INSTANCE: {}}})
    assert "cannot be played" in (environment.supports(broken) or "")
    with pytest.raises(UnavailableError, match="cannot be played"):
        environment.reset(broken)
