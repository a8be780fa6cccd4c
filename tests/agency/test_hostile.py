"""Agents that attack: nothing is left of them, nothing outside changes, and they score what they have earned."""

import gzip
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.evaluation import AgencyTask
from agenthard.agency.source import AgencySuite
from agenthard.audit.sources.base import Quarantine
from agenthard.flows.evaluation.settings import EvaluationSettings
from tests.flows.evaluation.conftest import evaluated

pytestmark = pytest.mark.long
MARK = "agenthard-hostile-mark"


def script(folder: Path, *commands: str, attempts: int = 1) -> str:
    """Write a script that runs commands in the first task, and return the agent's name."""
    calls = [{"name": "run_shell_command", "arguments": {"command": command}} for command in commands]
    path = folder / "script.json"
    path.write_text(json.dumps({"tasks": {"Code/tiny/one": [calls] * attempts, "Code/tiny/two": [[]]}}))
    return f"script:{path}"


def played(suite: Path, out: Path, agent: str, **options: str) -> list[dict[str, Any]]:
    """Play, and return the rollouts."""
    options = {"rounds": "0", "command_seconds": "8", **options}
    settings = EvaluationSettings(benchmark="agency", path=str(suite), agents=(agent,), options=options, out=str(out))
    outcome = evaluated(settings)
    assert outcome.complete, outcome.infrastructure_errors
    with gzip.open(out / "rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def results(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event["result"] for row in rows for event in row["rollout"]["events"] if event["kind"] == "called"]


def listed(*folders: Path) -> set[tuple[str, int]]:
    return {(str(p), p.lstat().st_size) for folder in folders for p in folder.rglob("*")}


def running(word: str) -> list[str]:
    found = []
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes().decode() if place.name.isdigit() else ""
        except OSError:
            continue
        if word in line and str(os.getpid()) != place.name:
            found.append(line)
    return found


def test_forking_without_end_is_bounded_and_nothing_is_left(suite: Path, tmp_path: Path) -> None:
    bomb = f"f() {{ (: {MARK}; f) & (: {MARK}; f) & sleep 30; }}; f; wait"
    agent = script(tmp_path, bomb, "echo still here")
    killed, after = results(played(suite, tmp_path / "out", agent, command_seconds="3"))
    assert killed["trouble"] == "killed" or killed["exit_code"] != 0
    assert after["exit_code"] == 0 and "still here" in after["output"]
    assert running(MARK) == []


def test_what_is_left_in_the_background_ends_with_the_command(suite: Path, tmp_path: Path) -> None:
    agent = script(tmp_path, f"setsid nohup sh -c 'while :; do sleep 1; : {MARK}; done' >/dev/null 2>&1 & echo started")
    assert results(played(suite, tmp_path / "out", agent))[0]["exit_code"] == 0
    assert running(MARK) == []


def test_filling_the_disk_ends_the_command_and_writing_is_refused(suite: Path, tmp_path: Path) -> None:
    fill = "i=0; while :; do head -c 30000000 /dev/zero > big$i || exit 7; i=$((i+1)); done"
    agent = script(tmp_path, fill, "rm -f big*; echo removed")
    filled, removed = results(played(suite, tmp_path / "out", agent, command_seconds="60"))
    assert filled["trouble"] == "killed" and "more than it may" in filled["output"]
    assert removed["exit_code"] == 0 and len(removed["changed"]["removed"]) >= 5


def test_there_is_no_network_and_no_port_stays_open(suite: Path, tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        connect = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)'"
        serve = "python3 -m http.server 28099 & sleep 1; echo served"
        refused, served = results(played(suite, tmp_path / "out", script(tmp_path, connect, serve)))
    assert refused["exit_code"] != 0 and "Refused" in refused["output"]
    assert served["exit_code"] == 0
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", 28099), 1):
        pass


def test_gold_graders_other_files_and_the_run_cannot_be_read_or_changed(suite: Path, tmp_path: Path) -> None:
    other = suite / "other-scenario"
    other.mkdir()
    (other / "secret.txt").write_text("70123 other")
    out = tmp_path / "out"
    before = listed(suite)
    look = [
        f"cat {suite}/*/gold/* {other}/secret.txt; ls -R {suite}",
        f"cat {Path(__file__).parent}/tiny/gold/sum.txt {Path(__file__).parent}/tiny/__init__.py",
        f"ls {out}/work; cat {out}/work/episodes.sqlite; find {out}",
        f"ln -s {suite}/Code-tiny/gold/sum.txt sum.sh; ln -s {suite} note.txt; cat sum.sh",
        f"echo spoilt > {suite}/Code-tiny/gold/sum.txt; rm -rf {suite}; kill -9 -1; true",
    ]
    rows = played(suite, out, script(tmp_path, *look))
    seen = json.dumps([result["output"] for result in results(rows)])
    assert "70123" not in seen and "CHECKS" not in seen
    assert listed(suite) == before
    assert [row["grade"]["score"] for row in rows] == [0.0, 0.0]


@pytest.mark.parametrize(
    "command",
    [
        "touch sum.sh note.txt report.json",
        "echo 'sum.sh prints the sum. A file note.txt names the author.' > sum.sh; : > note.txt",
        "echo '{\"score\": 10, \"passed\": true}' > report.json; echo 'exit 0' > sum.sh; : > note.txt",
        "mkdir -p gold; echo 1 > gold/sum.txt; echo 'echo 1' > sum.sh; : > note.txt",
        "printf 'kill -9 -1; cat /proc/1/environ' > sum.sh; mkfifo note.txt",
    ],
)
def test_cheating_earns_nothing(suite: Path, tmp_path: Path, command: str) -> None:
    rows = played(suite, tmp_path / "out", script(tmp_path, command))
    assert max(row["grade"]["score"] for row in rows) == 0


def test_an_agent_that_hangs_or_crashes_is_an_agents_error(suite: Path, tmp_path: Path) -> None:
    for name, line in (("hang", "sleep 100"), ("crash", "/bin/sh -c 'kill -SEGV $$'")):
        rows = played(suite, tmp_path / name, f"command:{line}", command_seconds="1")
        assert {(row["rollout"]["status"], row["rollout"]["ended"]) for row in rows} == {("agent_error", "crashed")}


def test_a_scenario_without_graders_says_so_and_is_never_scored(suite: Path, tmp_path: Path) -> None:
    place = suite / "Code-tiny" / "scenario.json"
    place.write_text(place.read_text().replace("Code/tiny", "Code/unknown"))
    (_, stored), *_ = AgencySuite(suite).instances(Quarantine())
    settings = EvaluationSettings(benchmark="agency", path=str(suite), agents=("reference",), out=str(tmp_path / "out"))
    (task,) = settings.open().tasks()
    assert isinstance(task, AgencyTask) and "graders" in (task.supports() or "")
    outcome = evaluated(settings)
    assert not outcome.complete and outcome.without_verdict == 1
    assert stored.scenario.id == "Code/unknown"
