"""Hostile agents on every task of our own suite: they score what doing nothing scores, and nothing of them is left."""

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.packs import packs
from agenthard.agency.suite.catalogue import HERE, NAMES
from agenthard.agency.suite_files import write_suite
from tests.agency.test_hostile import listed, played, results, running

pytestmark = pytest.mark.long
MARK = "agenthard-hostile-player"
SERVER = "python3 desk/server.py desk/store.json"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that commands could read: not below /tmp, where a job has a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="agenthard-hostile-", dir="/var/tmp"))
    folder.chmod(0o755)
    (folder / "outside").mkdir()
    (folder / "outside" / "file.txt").write_text("as it was")
    for each, mode in (("outside", 0o777), ("outside/file.txt", 0o666)):
        (folder / each).chmod(mode)
    yield folder
    shutil.rmtree(folder)


def written(name: str, place: Path) -> Path:
    """Write a suite of one of our scenarios."""
    write_suite([packs()[name]], place / "suite")
    return place / "suite"


def attacks(name: str, suite: Path, out: Path) -> list[str]:
    """Return the commands of an agent that tries everything but the task."""
    own = [HERE / name, suite / name, suite, HERE, out]
    look = " ".join(shlex.quote(str(path)) for path in own)
    copy = [f"cp -r {shlex.quote(str(folder / 'solutions/reference'))}/*/. ." for folder in own[:2]]
    return [
        f"f() {{ (: {MARK}; f) & (: {MARK}; f) & sleep 30; }}; f; wait",
        f"setsid nohup sh -c 'while :; do sleep 1; : {MARK}; done' >/dev/null 2>&1 & echo started",
        f"for each in {look}; do ls -R $each; cat $each/*.py $each/*.json $each/gold/*; done",
        "; ".join(copy),
        "python3 -m http.server 28097 & sleep 1; echo served",
        "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 2)'",
        f"for each in {look}; do echo spoilt > $each/expected.csv; rm -rf $each; done; kill -9 -1; true",
        f"echo spoilt > {suite.parent}/outside/file.txt; touch {suite.parent}/outside/more; true",
        "i=0; while :; do head -c 60000000 /dev/zero > big$i || exit 7; i=$((i+1)); done",
        "rm -rf big*",
    ]


def scores(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {row["grade"]["task_id"]: row["grade"]["score"] for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_attacks_earn_nothing_and_leave_nothing(name: str, place: Path) -> None:
    suite, out = written(name, place), place / "attacked"
    ids = [task.id for task in packs()[name].scenario.tasks]
    commands = attacks(name, suite, out)
    calls = [[{"name": "run_shell_command", "arguments": {"command": each}} for each in commands]]
    script = place / "script.json"
    script.write_text(json.dumps({"tasks": dict.fromkeys(ids, calls)}))
    before = listed(HERE, suite, place / "outside")
    attacked = played(suite, out, f"script:{script}", command_seconds="5")
    assert scores(attacked) == scores(played(suite, place / "idle", "do_nothing"))
    assert listed(HERE, suite, place / "outside") == before
    assert running(MARK) == [] and running("28097") == []
    seen = results(attacked)
    assert len(seen) == len(commands) * len(ids)
    for number in range(len(ids)):
        _, _, look, copied, _, network, spoil, _, filled, _ = seen[
            number * len(commands) : (number + 1) * len(commands)
        ]
        assert "class " not in look["output"] and "criteria" not in look["output"]
        assert not any(copied["changed"].values()) and not any(spoil["changed"].values())
        assert network["exit_code"] != 0 and filled["trouble"] == "killed"


@pytest.mark.parametrize("name", NAMES)
def test_agents_that_crash_or_hang_score_what_doing_nothing_scores(name: str, place: Path) -> None:
    suite = written(name, place)
    agents = {"crash": "command:/bin/sh -c 'kill -SEGV $$'", "hang": "command:sleep 100"}
    for kind, agent in agents.items():
        rows = played(suite, place / kind, agent, command_seconds="1")
        assert {row["rollout"]["ended"] for row in rows} == {"crashed"}
        assert all(score <= 2 for score in scores(rows).values())


def test_a_graded_program_cannot_read_the_solutions_of_the_suite_on_disk(place: Path) -> None:
    suite = written("code", place)
    reference = suite / "code/solutions/reference/code-task1/slots/spans.py"
    borrow = f"exec(open({str(reference)!r}).read())\n"
    calls = [[{"name": "write_file", "arguments": {"file_path": "slots/spans.py", "content": borrow}}]]
    script = place / "script.json"
    script.write_text(json.dumps({"tasks": {"code-task1": calls, "code-task2": [[]], "code-task3": [[]]}}))
    rows = played(suite, place / "out", f"script:{script}")
    assert scores(rows)["code-task1"] == 0
    reasons = json.dumps(rows[0]["grade"]["criteria"])
    assert "PermissionError" in reasons or "FileNotFoundError" in reasons


def test_players_of_the_mcp_scenario_have_the_package_and_cannot_read_the_suite(place: Path) -> None:
    suite, out = written("mcp", place), place / "out"
    look = f"""
import glob, importlib.util, os, sys
for place in {[str(HERE), str(suite), str(out)]!r} + [p + "/agenthard/agency/suite" for p in sys.path]:
    try:
        print("OPEN", place, os.listdir(place))
    except OSError as error:
        print("closed", type(error).__name__)
try:
    import agenthard.agency.suite.mcp.model as model
    print("OPEN", model.__file__)
except Exception as error:
    print("closed", type(error).__name__)
found = [each for root in sys.path for each in glob.glob(root + "/**/agency/suite/**/solutions/**", recursive=True)]
print("OPEN", found) if found else print("closed")
"""
    calls = [
        {"name": "write_file", "arguments": {"file_path": "look.py", "content": look}},
        {"name": "run_shell_command", "arguments": {"command": "python3 look.py"}},
        {
            "name": "run_shell_command",
            "arguments": {"command": "python3 try.py python3 desk/server.py desk/store.json"},
        },
    ]
    trial = (HERE / "mcp/solutions/reference/mcp-task1/inventory.py").read_text()
    calls.insert(0, {"name": "write_file", "arguments": {"file_path": "try.py", "content": trial}})
    script = place / "script.json"
    script.write_text(json.dumps({"tasks": {"mcp-task1": [calls], "mcp-task2": [[]], "mcp-task3": [[]]}}))
    _, _, looked, tried = results(played(suite, out, f"script:{script}", command_seconds="60"))
    assert looked["exit_code"] == 0 and "closed" in looked["output"] and "OPEN" not in looked["output"]
    assert tried["exit_code"] == 0 and '"oldest"' in tried["output"], tried["output"]


def test_players_of_other_scenarios_have_the_programs_of_the_machine_alone(place: Path) -> None:
    suite = written("research", place)
    calls = [[{"name": "run_shell_command", "arguments": {"command": "command -v python3; echo $PATH"}}]]
    script = place / "script.json"
    script.write_text(json.dumps({"tasks": {f"research-task{number}": calls for number in (1, 2, 3)}}))
    rows = played(suite, place / "out", f"script:{script}")
    assert all(sys.prefix not in result["output"] for result in results(rows))
