"""What `agenthard status` and `agenthard verify` say of a judging that was killed, and of one that was resumed."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.run_status import run_status
from agenthard.flows.verification import verify_run
from perf.faults.job import Job, ended
from perf.faults.row import Row, files
from tests.flows.judging.made import model, panel
from tests.flows.judging.test_command import answered, command, judges, wait_until
from tests.loopback.fixtures import LoopbackProcess

pytestmark = pytest.mark.long
BRAIN = "tests.flows.judging.made:readable"
QUESTIONS = 40


def exit_code(name: str, run: Path) -> int:
    return CliRunner().invoke(app, [name, str(run)]).exit_code


def test_status_and_verify_tell_the_truth_about_a_killed_judging(
    audited: Path, loopback_process: Callable[..., LoopbackProcess], keys: str, tmp_path: Path
) -> None:
    server = loopback_process(brain=BRAIN, latency=0.1)
    file, out = judges(tmp_path, panel([{"model": model("chat", server.url)}])), tmp_path / "out"
    killed = command(audited, file, out, "--in-flight", "4", "--workers", "0")
    wait_until(lambda: len(answered(out)) > 5, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    status, found = run_status(out), verify_run(out)
    assert (status.kind, status.state, status.pid, status.stage) == ("judging", "interrupted", None, "judging tasks")
    assert (found.faults, found.files, found.unfinished) == ((), 0, "judging of this audit: judging tasks")
    assert (exit_code("status", out), exit_code("verify", out)) == (2, 2)
    again = command(audited, file, out)
    again.communicate()
    status, found = run_status(out), verify_run(out)
    assert (status.kind, status.state, status.verifiable) == ("judging", "finished", True)
    assert found.intact and found.files > 20 and not found.unfinished
    assert (exit_code("status", out), exit_code("verify", out)) == (0, 0)


def test_a_kill_of_a_finished_judging_that_gets_more_tasks_is_no_damage(
    audited: Path, loopback_process: Callable[..., LoopbackProcess], keys: str, tmp_path: Path
) -> None:
    server = loopback_process(brain=BRAIN, latency=0.1)
    file, out = judges(tmp_path, panel([{"model": model("chat", server.url)}])), tmp_path / "out"
    command(audited, file, out, "--sample", "5", "--workers", "0").communicate()
    assert exit_code("verify", out) == 0
    killed = command(audited, file, out, "--in-flight", "4", "--workers", "0")
    wait_until(lambda: len(answered(out)) > 10, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    found = verify_run(out)
    assert found.faults == () and "judge/questions.sqlite: not as it was before" in "\n".join(found.not_checked)
    assert (run_status(out).state, exit_code("verify", out)) == ("interrupted", 2)
    # What is damaged all the same is still named.
    store, content = out / "judge" / "questions.sqlite", (out / "judge" / "questions.sqlite").read_bytes()
    store.write_bytes(b"no SQLite file" + content[14:])
    assert [(fault.file, fault.what) for fault in verify_run(out).faults] == [("judge/questions.sqlite", "damaged")]
    store.write_bytes(content)
    command(audited, file, out).communicate()
    assert verify_run(out).intact and len(answered(out)) == QUESTIONS


def test_a_kill_before_any_change_of_a_file_is_told_as_it_is(
    audited: Path, loopback_process: Callable[..., LoopbackProcess], keys: str, tmp_path: Path
) -> None:
    """Killed right before its n-th change: folder, lock, marks, stores, each file of the result, hashes."""
    server = loopback_process(brain=BRAIN)
    file = judges(tmp_path, panel([{"model": model("chat", server.url)}]))
    options = ["--judges", str(file), "--sample", "3", "--workers", "0"]
    job = Job(
        "judge run",
        words=lambda out: ["judge", "run", str(audited), *options, "--out", str(out)],
        hashes=files(lambda path: path.name in ("panels.jsonl", "report.html", "findings.json")),
        home=tmp_path,
    )
    assert job.measure() == ""
    row, out = Row("judge run", "SQLite", "SIGKILL"), job.fresh("killed")
    for change in range(1, job.pace.changes, max(1, job.pace.changes // 12)):
        row.injected += ended(job.start_fatal(out, change)).code == -signal.SIGKILL
        job.look(out, row)
    job.finish(out, row)
    assert row.sound and row.injected > 8, row
