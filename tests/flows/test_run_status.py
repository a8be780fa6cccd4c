"""The state of a run folder: while a process works in it, after it was killed, after an error, and in the end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.flows.job_status import read_status
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_status import run_status
from tests.flows.operations import audited, demo_settings, kill, start_slow_audit


def test_a_working_audit_a_killed_one_and_the_same_one_continued(flawed_demo: Path, tmp_path: Path) -> None:
    settings = demo_settings(flawed_demo, tmp_path / "run")
    process = start_slow_audit(settings)
    try:
        working = run_status(tmp_path / "run")
        assert (working.kind, working.state, working.pid) == ("audit", "working", process.pid)
        assert (working.stage, working.total) == ("checking tasks", 60)
        assert (working.shards_done, working.shards) == (1, 3)
        assert working.error is None and not working.verifiable
        # Looking on disturbs nobody: the process still holds the folder, and a second audit is refused.
        with pytest.raises(Exception, match=f"pid {process.pid}"):
            run_audit(AuditInput(settings))
    finally:
        kill(process)
    killed = run_status(tmp_path / "run")
    assert (killed.state, killed.pid, killed.stage, killed.shards_done) == ("interrupted", None, "checking tasks", 1)
    assert killed.gaps == ("no result is written yet: what could not be read or checked is known when the audit ends",)
    run_audit(AuditInput(settings))
    finished = run_status(tmp_path / "run")
    assert (finished.state, finished.shards_done, finished.stage, finished.verifiable) == ("finished", 3, "", True)
    assert not (tmp_path / "run" / "work" / "status.json").exists()


def test_throughput_and_time_left_follow_from_what_is_done(flawed_demo: Path, tmp_path: Path) -> None:
    process = start_slow_audit(demo_settings(flawed_demo, tmp_path / "run"))
    try:
        file = tmp_path / "run" / "work" / "status.json"
        state = json.loads(file.read_text())
        state |= {"stage_started": 1000.0, "updated": 1010.0, "done_before": 0, "done": 20, "total": 60}
        file.write_text(json.dumps(state))
        found = run_status(tmp_path / "run", now=1013.0)
    finally:
        kill(process)
    assert (found.per_second, found.remaining_seconds, found.silent_seconds) == (2.0, 20.0, 3.0)


def test_an_error_is_kept_without_its_secrets_until_the_next_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-FAKE-123456")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "key").touch()
    with pytest.raises(OSError), RunFolder(tmp_path).hold():
        raise OSError("the key sk-FAKE-123456 was refused")
    found = run_status(tmp_path)
    assert (found.state, found.error) == ("failed", "the key [secret] was refused")
    with RunFolder(tmp_path).hold():
        working = read_status(tmp_path / "work")
        assert working is not None and (working.pid, working.error) == (os.getpid(), None)
    assert read_status(tmp_path / "work") is None


def test_the_command_prints_what_it_knows_and_refuses_another_folder(flawed_demo: Path, tmp_path: Path) -> None:
    run = audited(flawed_demo, tmp_path / "run")
    printed = CliRunner().invoke(app, ["status", str(run)])
    assert (printed.exit_code, printed.output) == (0, f"{run}: audit, finished\n  shards 3 of 3\n")
    as_json = CliRunner().invoke(app, ["status", str(run), "--json"])
    assert json.loads(as_json.output)["state"] == "finished"
    (run / "manifest.json").unlink()
    assert CliRunner().invoke(app, ["status", str(run)]).exit_code == 2
    with pytest.raises(CommandError, match="no run folder"):
        run_status(flawed_demo)


@pytest.mark.long
def test_an_evaluation_is_seen_at_work_and_in_the_end(tmp_path: Path) -> None:
    suite, out = tmp_path / "suite", tmp_path / "eval"
    base = [sys.executable, "-m", "agenthard"]
    words = ["ace", "generate", "--out", str(suite), "-H", "1", "-B", "0", "--domain", "travel"]
    subprocess.run([*base, *words], check=True, capture_output=True)
    code = """
import sys, time
import agenthard.flows.evaluation.flow as module
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.workers import Worker
real = module._more_to_play
def waiting(settings, tasks, stopped):
    worker = Worker(settings.folder.workers)
    print("played", flush=True)
    sys.stdin.readline()
    worker.close()
    return real(settings, tasks, stopped)
module._more_to_play = waiting
if __name__ == "__main__":
    module.run_evaluation(EvaluationSettings(benchmark="ace", path=sys.argv[1], out=sys.argv[2], agents=("random",)))
"""
    script = tmp_path / "slow.py"
    script.write_text(code)
    process = subprocess.Popen(
        [sys.executable, str(script), str(suite), str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "played\n"
    working = run_status(out)
    assert (working.kind, working.state, working.pid) == ("evaluation", "working", process.pid)
    process.communicate("\n", timeout=120)
    assert process.returncode == 0
    assert run_status(out).state == "finished" and run_status(out).verifiable
