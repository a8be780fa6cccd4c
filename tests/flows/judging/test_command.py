"""`agenthard judge` as a process: killed and resumed, without a key, twice at once, and its small siblings."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.models.ledger import Ledger, Total
from tests.flows.judging.made import model, panel
from tests.loopback.fixtures import LoopbackProcess

PATIENCE = 120.0
"""Seconds after which a test gives up; none of them measures time."""
BRAIN = "tests.flows.judging.made:verdict"
Start = Callable[..., LoopbackProcess]


def judges(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "judges.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def command(run: Path, file: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    """Start `agenthard judge run` in a process group of its own."""
    program = [sys.executable, "-m", "agenthard", "--quiet"]
    arguments = [*program, "judge", "run", str(run), "--judges", str(file), "--out", str(out)]
    return subprocess.Popen(
        [*arguments, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def answered(out: Path) -> dict[tuple[str, str, int], bytes]:
    """What is on disk, by question."""
    file = out / "judge" / "questions.sqlite"
    if not file.exists():
        return {}
    connection = sqlite3.connect(file, timeout=30)
    try:
        rows = connection.execute("SELECT task_id, judge, sample, answer FROM answers").fetchall()
    except sqlite3.OperationalError:
        return {}
    finally:
        connection.close()
    return {row[:3]: row[3] for row in rows}


def total(out: Path) -> Total:
    ledger = Ledger(out / "judge" / "ledger.sqlite")
    try:
        return ledger.totals(by=())[0]
    finally:
        ledger.close()


def wait_until(true: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < give_up
        time.sleep(0.02)


@pytest.mark.long
@pytest.mark.parametrize("api", ["chat", "gemini"])
def test_killed_and_resumed(api: str, audited: Path, loopback_process: Start, keys: str, tmp_path: Path) -> None:
    server = loopback_process(brain=BRAIN, latency=0.1)
    file, out = judges(tmp_path, panel([{"model": model(api, server.url), "samples": 3}])), tmp_path / "out"
    for least in (5, 30):
        killed = command(audited, file, out, "--in-flight", "4", "--workers", "1")
        wait_until(lambda least=least: len(answered(out)) > least, killed)  # type: ignore[misc]
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    kept = answered(out)
    process = command(audited, file, out, "--json")
    printed, error = process.communicate(timeout=PATIENCE)
    outcome = json.loads(printed)
    # 2: garbage, refusals and replies that were cut off are errors.
    assert (process.returncode, error) == (2, "")
    assert outcome["panels"] == {"flawed": 4, "not_flawed": 24, "uncertain": 0, "error": 12, "not asked": 0}
    found = answered(out)
    assert len(found) == 120 and {key: found[key] for key in kept} == kept
    spent, counts = total(out), server.counts
    (billed,) = counts["billed"].values()
    # Three samples of 28 tasks, and of 12 tasks that are asked twice; a kill can cut a reply off from the cache.
    assert 0 <= spent.answered - 3 * (28 + 2 * 12) <= 2
    assert 0 <= billed["requests"] - spent.answered <= spent.unknown <= 8
    assert 0 <= spent.sent - counts["received"] <= spent.unknown


@pytest.mark.long
def test_a_wrong_key_is_one_message(
    audited: Path, loopback_process: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = loopback_process(brain=BRAIN)
    monkeypatch.setenv("COMPATIBLE_API_KEY", "wrong")
    process = command(audited, judges(tmp_path, panel([{"model": model("chat", server.url)}])), tmp_path / "out")
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert error.startswith(("error: ", "error AH")) and error.count("\n") == 1 and "Traceback" not in error
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.long
def test_two_at_once(audited: Path, loopback_process: Start, keys: str, tmp_path: Path) -> None:
    server = loopback_process(brain=BRAIN, latency=0.3)
    file, out = judges(tmp_path, panel([{"model": model("chat", server.url)}])), tmp_path / "out"
    first = command(audited, file, out, "--in-flight", "2")
    wait_until(lambda: server.counts["in_flight"] > 0, first)
    second = command(audited, file, out)
    _, error = second.communicate(timeout=PATIENCE)
    assert second.returncode == 3 and f"another agenthard process (pid {first.pid}) is working in this folder" in error
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 2 and len(answered(out)) == 40


def invoke(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["judge", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_dry_run_prompt_and_files_need_no_key(audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "COMPATIBLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    strong = {"model": {"name": "openai/gpt-5", "sampling": {"max_output_tokens": 4000}}, "tier": "second"}
    cheap = {"model": {"name": "google/gemini-2.5-flash"}, "samples": 2}
    file = judges(tmp_path, panel([cheap, strong]))
    options = ("--judges", str(file), "--workers", "0")
    found = json.loads(invoke("run", str(audited), *options, "--out", str(tmp_path / "x"), "--dry-run", "--json"))
    assert [(each["judge"], each["questions"], each["cached"]) for each in found] == [("j0", 80, 0), ("j1", 40, 0)]
    assert found[0]["takes"]["requests"] == {"low": 80, "typical": 80, "high": 160}
    assert found[1]["takes"]["requests"]["low"] == 0 and found[1]["takes"]["cost"]["high"] > 0
    assert not (tmp_path / "x").exists()
    prompt = invoke("prompt", str(audited), "lib/3", "--judges", str(file))
    assert "Case 3: lend book 5003." in prompt and "incorrect-tool-call" in prompt
    written = invoke("export", str(audited), *options, "--out", str(tmp_path / "requests.jsonl"), "--sample", "5")
    assert "5 tasks; requests: j0 10, j1 0" in written
    (tmp_path / "answers.jsonl").write_text("", encoding="utf-8")
    out = ("--out", str(tmp_path / "judged"))
    empty = invoke("import", str(audited), str(tmp_path / "answers.jsonl"), *options, *out, code=2)
    assert "not asked 40" in empty and "0 of 80 questions" in empty


def test_what_cannot_be_judged_is_refused(audited: Path, tmp_path: Path) -> None:
    def refused(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["judge", *arguments])
        assert result.exit_code == 1 and result.exception is not None
        return str(result.exception)

    file = judges(tmp_path, panel([{"model": "openai/any"}]))
    (tmp_path / "answers.jsonl").write_text("", encoding="utf-8")
    options = ("--judges", str(file), "--workers", "0")
    answers, out = str(tmp_path / "answers.jsonl"), str(tmp_path / "judged")
    invoke("import", str(audited), answers, *options, "--out", out, code=2)
    assert "was judged already" in refused("import", out, answers, *options, "--out", str(tmp_path / "y"))
    assert "no task 'lib/99'" in refused("prompt", str(audited), "lib/99")
    assert "no finished audit here" in refused("prompt", str(tmp_path), "lib/1")
    other = judges(tmp_path, panel([{"model": "openai/other"}]))
    assert "another judge j0" in refused(
        "import", str(audited), answers, "--judges", str(other), "--workers", "0", "--out", out
    )
    other.write_text("judges: [{name: a, model: nonsense}]", encoding="utf-8")
    assert "judges.yaml: at judges/0/model" in refused("prompt", str(audited), "lib/1", "--judges", str(other))
