"""Hostile agents where an ordinary user runs them, with user namespaces and without."""

import gzip
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.packs import packs
from agenthard.agency.suite.catalogue import NAMES, expected
from agenthard.agency.suite_files import write_suite
from tests.agency.other_user import ROOT, run_as_user
from tests.agency.test_hostile import running

pytestmark = pytest.mark.long
MARK = "agenthard-other-user"


@pytest.fixture
def home() -> Iterator[Path]:
    """A home for the user, not below /tmp, where a job has a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="agenthard-home-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def evaluated(
    home: Path, agent: str, *more: str, names: Sequence[str] = ("code",)
) -> tuple[int, str, dict[str, Any], list[dict[str, Any]]]:
    """Evaluate an agent on scenarios without namespaces; exit code, words, manifest, rollouts."""
    if not (home / "suite").exists():
        write_suite([packs()[name] for name in names], home / "suite")
    out = home / agent.replace(":", "-").replace("/", "-")
    command = ["agenthard", "evaluate", "agency", str(home / "suite"), "--agent", agent, "--set", "rounds=0"]
    done = run_as_user([*command, "--out", str(out), *more], home, namespaces=False)
    manifest = json.loads((out / "manifest.json").read_text()) if (out / "manifest.json").exists() else {}
    rows = []
    if (out / "rollouts.jsonl.gz").exists():
        with gzip.open(out / "rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
    return done.returncode, done.stdout + done.stderr, manifest, rows


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("tests/agency/test_hostile.py", "forking or background or disk or port or gold"),
        ("tests/agency/suite/test_hostile_players.py", "attacks or crash or mcp_scenario or graded"),
    ],
)
def test_hostile_agents_of_an_ordinary_user_are_contained(file: str, chosen: str, home: Path) -> None:
    command = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={home / 'tests'}", file]
    done = run_as_user([*command, "-k", chosen], home, namespaces=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_without_user_namespaces_nothing_is_played_and_the_manifest_says_why(home: Path) -> None:
    code, said, manifest, rows = evaluated(home, "reference")
    assert code != 0 and rows == []
    assert manifest["conditions"]["isolation"].startswith("none: ") or "cannot contain it" in said


def test_weak_isolation_changes_no_score_of_a_reference(home: Path) -> None:
    code, said, _, rows = evaluated(home, "reference", "--set", "weak_isolation=true", names=NAMES)
    stated = {task: score for (task, name), score in expected().items() if name == "reference"}
    assert code == 0 and {row["grade"]["task_id"]: row["grade"]["score"] for row in rows} == stated, said


def test_weak_isolation_without_user_namespaces_is_said_and_leaves_nothing_running(home: Path) -> None:
    weak = ("--set", "weak_isolation=true", "--set", "command_seconds=5")
    code, _, manifest, rows = evaluated(home, "reference", *weak)
    assert "WEAK, without files" in manifest["conditions"]["isolation"]
    stated = expected()
    assert {row["grade"]["task_id"]: row["grade"]["score"] for row in rows} == {
        task: score for (task, name), score in stated.items() if name == "reference" and task.startswith("code")
    }
    bomb = f"f() {{ (: {MARK}; f) & (: {MARK}; f) & sleep 30; }}; f; wait"
    left = f"setsid nohup sh -c 'while :; do sleep 1; : {MARK}; done' >/dev/null 2>&1 & echo started"
    outside = home / "outside.txt"
    outside.write_text("as it was")
    calls = [
        {"name": "run_shell_command", "arguments": {"command": each}}
        for each in (bomb, left, f"echo spoilt > {outside}; echo spoilt > {ROOT}/README.md; kill -9 -1; true")
    ]
    script = home / "script.json"
    script.write_text(json.dumps({"tasks": {f"code-task{number}": [calls] for number in (1, 2, 3)}}))
    before = (ROOT / "README.md").read_bytes()
    code, said, manifest, rows = evaluated(home, f"script:{script}", *weak)
    assert [row["grade"]["score"] for row in rows] == [0, 0, 0], said
    assert running(MARK) == [] and outside.read_text() == "as it was" and (ROOT / "README.md").read_bytes() == before
