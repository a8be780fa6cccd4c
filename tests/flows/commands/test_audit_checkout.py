"""``--checkout`` reaches the processes that check shards, and belongs to what identifies a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from agenthard.audit.sources.registry import sources
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.resume_key import checks_key
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.shard_worker import run_shard
from agenthard.taxonomy.finding import Status
from tests.audit.execution.conftest import ACEBENCH, write
from tests.audit.sources.acebench.conftest import FILES, write_files

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small ACEBench in ``data``, and a stand-in for its code in ``checkout``."""
    kept = ("normal_atom_bool", "agent_multi_step", "special_irrelevant")
    write_files(tmp_path / "data", {name: FILES[name] for name in kept})
    write(tmp_path / "checkout", ACEBENCH)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PREFECT_HOME": str(folder / "prefect"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "agenthard", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def statuses(run_folder: Path, check: str) -> dict[str, str]:
    rows = pd.read_parquet(run_folder / "tables" / "coverage.parquet")
    rows = rows[rows.check == check]
    return dict(zip(rows.task_id, rows.status, strict=True))


@pytest.mark.long
def test_worker_processes_run_the_checkout(folder: Path) -> None:
    done = run(folder, "audit", "acebench", "data", "--checkout", "checkout", "--out", "out", "--workers", "2")
    assert done.returncode in (0, 1), done.stderr
    judged = statuses(folder / "out", "gold-rejected")
    assert judged["normal_atom_bool_0"] == judged["normal_atom_bool_2"] == "clean"
    assert judged["special_irrelevant_0"] == judged["agent_multi_step_0"] == "not_checked"
    isolation = json.loads((folder / "out" / "manifest.json").read_bytes())["isolation"]
    assert "Landlock" in isolation and "seccomp" in isolation and "WEAK" not in isolation
    assert f"isolation of executed benchmark code: {isolation}" in done.stdout
    assert isolation in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_replay_runs_the_checkout(folder: Path) -> None:
    done = run(folder, "replay", "acebench", "data", "agent_multi_step_0", "--checkout", "checkout")
    assert "/BaseApi/wifi: false → true" in done.stdout and "verdict: passed" in done.stdout, done.stderr
    without = run(folder, "replay", "acebench", "data", "agent_multi_step_0")
    assert without.returncode == 3 and "give --checkout PATH" in without.stderr


@pytest.mark.long
def test_a_missing_layer_refuses_unless_it_is_accepted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTHARD_ISOLATION_OFF", "landlock")
    command = ("replay", "acebench", "data", "agent_multi_step_0", "--checkout", "checkout")
    refused = run(folder, *command)
    assert refused.returncode == 3 and "Missing: Landlock" in refused.stderr, refused.stderr
    accepted = run(folder, *command, "--allow-weak-isolation")
    assert "verdict: passed" in accepted.stdout and "WEAK, without landlock: switched off" in accepted.stdout


def test_without_containment_an_audit_executes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = AuditSettings(
        source="acebench", path=str(folder / "data"), out=str(folder / "o"), checkout=str(folder / "checkout")
    )
    monkeypatch.setenv("AGENTHARD_ISOLATION_OFF", "seccomp")
    run_shard(settings, 0, AuditInput(settings).tasks)
    [result] = RunFolder(folder / "o").shard_results(1)
    rows = [row for row in result.coverage if row.check == "gold-rejected"]
    assert rows and all(row.status is Status.NOT_CHECKED for row in rows)
    assert any("a filter on system calls (switched off)" in (row.reason or "") for row in rows)
    assert RunFolder(folder / "o").isolation(1) == "nothing executed"


@pytest.mark.parametrize(
    ("path", "words", "code"), [("absent", "no folder at this path", 64), ("data", "defines no", 3)]
)
def test_a_wrong_checkout_is_one_message(folder: Path, path: str, words: str, code: int) -> None:
    done = run(folder, "replay", "acebench", "data", "agent_multi_step_0", "--checkout", path)
    assert done.returncode == code and words in done.stderr and "Traceback" not in done.stderr


def test_the_code_is_part_of_the_key(folder: Path) -> None:
    write(folder / "other", {"checker.py": "def normal_checker(*a):\n    return {'valid': True}\n"})
    given = {"benchmarks": ("acebench",), "selected": (), "weak_isolation": False, "experimental": False}
    checkouts = (None, str(folder / "checkout"), str(folder / "other"))
    source = sources()["acebench"]
    assert len({checks_key(source, checkout=checkout, **given) for checkout in checkouts}) == 3
