"""The commands of the family: what they print, and with which exit code."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["agency", *map(str, words)])


def test_scenarios_are_listed_and_written_as_a_suite(tiny_pack: None, tmp_path: Path) -> None:
    done = run("scenarios", "--out", tmp_path / "suite", "--json")
    (row,) = json.loads(done.stdout)["scenarios"]
    assert (row["id"], row["tasks"], row["obstacles"]) == ("Code/tiny", 2, [])
    again = run("scenarios", tmp_path / "suite", "--json")
    assert json.loads(again.stdout)["scenarios"] == [row]
    assert isinstance(run("scenarios", "--out", tmp_path / "suite").exception, CommandError)
    assert "can be played" in run("scenarios").stdout


@pytest.mark.parametrize(("agent", "code", "score"), [("reference", 0, 10.0), ("partial", 1, 3.75)])
def test_play_shows_every_attempt(suite: Path, tmp_path: Path, agent: str, code: int, score: float) -> None:
    words = ("play", suite, "Code/tiny", "--agent", agent, "--out", tmp_path / "out", "--json")
    done = run(*words)
    assert done.exit_code == code, done.output
    played = json.loads(done.stdout)
    assert played["summary"]["score"] * 10 == pytest.approx(score)
    assert run(*words).stdout == done.stdout  # told again from its journal
    chat = run("rollouts", tmp_path / "out", "--out", tmp_path / "chat.jsonl", "--json")
    assert json.loads(chat.stdout)["conversations"] == 1
    (line,) = (tmp_path / "chat.jsonl").read_text().splitlines()
    roles = [message["role"] for message in json.loads(line)["messages"]]
    assert roles[:3] == ["user", "assistant", "tool"] and json.loads(line)["metadata"]["license"] == "MIT"


def test_a_folder_is_graded_and_the_feedback_holds_no_gold(suite: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "report.json").write_text('{"total": 5}')
    done = run("grade", suite, "Code/tiny/two", work, "--json")
    assert done.exit_code == 1
    grade = json.loads(done.stdout)
    assert grade["score"] == 0 and "70123" in grade["criteria"][0]["reason"]
    said = run("feedback", suite, "Code/tiny/two", work)
    assert said.exit_code == 0 and "total is 5, and should be [withheld]" in said.stdout
    assert "70123" not in said.stdout and "taken out" in said.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("play", "Code/none", "--agent", "reference"), "no scenario 'Code/none'"),
        (("play", "Code/tiny", "--agent", "nobody"), "no agent 'nobody'"),
        (("play", "Code/tiny"), "one of --agent and --model"),
        (("play", "Code/tiny", "--agent", "reference", "--set", "carry=worst"), "carry"),
        (("grade", "Code/tiny/three", "."), "no task 'Code/tiny/three'"),
        (("grade", "Code/tiny/one", "nowhere"), "no such folder"),
    ],
)
def test_a_wrong_call_is_refused(suite: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    name, *rest = words
    out = ["--out", tmp_path / "out"] if name == "play" else []
    done = run(name, suite, *rest, *out)
    assert isinstance(done.exception, CommandError) and message in str(done.exception), done.output
