"""`agenthard evaluate` as a process: killed, interrupted, twice at once, without a key, on a full disk."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agenthard.flows.evaluation.flow import run_evaluation
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.ledger import Ledger, Total
from agenthard.models.model_file import load_model
from tests.flows.evaluation.conftest import attempts, command, key, model_path
from tests.loopback.fixtures import LoopbackProcess

EPISODES = 4
PATIENCE = 120.0
"""Seconds after which a test gives up; none of them measures time."""
ACE = "tests.loopback.brains:ace"
Start = Callable[..., LoopbackProcess]


def wait_until(true: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    give_up = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < give_up
        time.sleep(0.02)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, error = process.communicate(timeout=PATIENCE)
    return process.returncode, out, error


def episodes(out: Path) -> int:
    return len(attempts(out)) if (out / "work" / "episodes.sqlite").exists() else 0


def total(out: Path) -> Total:
    ledger = Ledger(out / "work" / "ledger.sqlite")
    try:
        return ledger.totals(by=())[0]
    finally:
        ledger.close()


@pytest.mark.long
def test_killed_and_resumed(suite: Path, loopback_process: Start, keys: str, tmp_path: Path) -> None:
    server = loopback_process(brain=ACE, latency=0.1)
    out, trials = tmp_path / "out", 4
    model = model_path(tmp_path, server.url)
    options = ("--model", str(model), "--agent", "random", "--trials", str(trials), "--in-flight", "4")
    killed = command(suite, out, *options, "--workers", "1")
    wait_until(lambda: episodes(out) > EPISODES * trials + 2, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    kept = {key(row): row["seconds"] for row in attempts(out)}
    assert 0 < len(kept) < 2 * EPISODES * trials
    code, _, error = ended(command(suite, out, *options))
    assert (code, error) == (0, "")
    rows = attempts(out)
    assert len(rows) == len({key(row) for row in rows}) == 2 * EPISODES * trials
    assert {key(row): row["seconds"] for row in rows if key(row) in kept} == kept
    spent, counts = total(out), server.counts
    (distinct,) = counts["distinct"].values()
    assert spent.answered == distinct["requests"] == EPISODES * trials * 4
    assert (spent.prompt_tokens, spent.completion_tokens) == (distinct["prompt"], distinct["completion"])
    assert 0 <= spent.sent - counts["received"] <= spent.unknown <= 4
    # The same evaluation without a kill, replies from the cache: the same bytes.
    calm = EvaluationSettings(
        benchmark="ace",
        path=str(suite),
        agents=("random",),
        models=(load_model(str(model)),),
        trials=trials,
        out=str(tmp_path / "calm"),
        cache=str(out / "work" / "replies.sqlite"),
    )
    assert run_evaluation(calm).complete
    for name in ("tables/episodes.parquet", "trajectories.jsonl.gz"):
        assert (tmp_path / "calm" / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.long
def test_two_at_once_share_folder_and_cache(suite: Path, loopback_process: Start, keys: str, tmp_path: Path) -> None:
    server = loopback_process(brain=ACE, latency=0.05)
    out = tmp_path / "out"
    options = ("--model", str(model_path(tmp_path, server.url)), "--agent", "solver", "--trials", "4", "--json")
    both = [command(suite, out, *options, "--in-flight", "4", "--workers", "1") for _ in range(2)]
    for process in both:
        code, _, error = ended(process)
        assert (code, error) == (0, "")
    rows = attempts(out)
    assert len(rows) == len({key(row) for row in rows}) == 2 * EPISODES * 4
    spent, counts = total(out), server.counts
    (billed,) = counts["billed"].values()
    assert spent.sent == spent.answered == counts["received"] == billed["requests"] == EPISODES * 4 * 4
    assert spent.prompt_tokens == billed["prompt"]


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done(suite: Path, loopback_process: Start, keys: str, tmp_path: Path) -> None:
    server = loopback_process(brain=ACE, faults={"script": [None] * 6 + ["hang"] * 50})
    out = tmp_path / "out"
    process = command(suite, out, "--model", str(model_path(tmp_path, server.url)), "--in-flight", "1")
    wait_until(lambda: server.counts["in_flight"] == 1 and server.counts["answered"] == 6, process)
    process.send_signal(signal.SIGINT)
    code, _, error = ended(process)
    assert (code, error.strip()) == (
        3,
        "error AH805: interrupted; finished episodes are kept: run the same command to resume",
    )
    assert episodes(out) == 1 and total(out).maybe_billed == 1


def test_no_process_outlives_a_killed_command(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = command(suite, out, "--agent", "solver", "--trials", "500", "--workers", "2")
    wait_until(lambda: episodes(out) > 0, process)
    locks = list((out / "work" / "workers").iterdir())
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert locks and children
    process.kill()
    process.wait()
    try:
        give_up = time.monotonic() + PATIENCE
        while any(_plays(pid) for pid in children):
            assert time.monotonic() < give_up
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # Prefect's own server stays behind.
        process.communicate()


def _plays(pid: str) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.long
def test_a_full_disk(suite: Path, tiny_disk: Path, tmp_path: Path) -> None:
    out = tiny_disk / "out"
    options = ("--agent", "solver", "--trials", "200", "--workers", "1")
    code, _, error = ended(command(suite, out, *options))
    assert code == 3 and error.startswith("error AH") and len(error.splitlines()) == 1
    assert "disk is full" in error and "its content is unchanged" in error
    kept = len(attempts(_copy(out, tmp_path / "copy")))
    assert kept > 0
    subprocess.run(["mount", "-o", "remount,size=200m", tiny_disk], check=True)
    code, _, error = ended(command(suite, out, *options))
    assert (code, error) == (0, "") and len(attempts(out)) == EPISODES * 200


def _copy(out: Path, to: Path) -> Path:
    """The folder on a disk with room, for even reading takes some."""
    subprocess.run(["cp", "-r", out, to], check=True)
    return to


@pytest.mark.long
def test_what_is_wrong_is_said_in_one_line(
    suite: Path, loopback_process: Start, keys: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = loopback_process(brain=ACE, key="right")
    model = str(model_path(tmp_path, server.url))
    code, out, error = ended(command(suite, tmp_path / "wrong", "--model", model, "--agent", "random"))
    assert code == 3 and error.startswith("error AH805: loop stopped: ") and len(error.splitlines()) == 1
    assert "refuses the key in $COMPATIBLE_API_KEY" in error and "test-key" not in out + error
    assert episodes(tmp_path / "wrong") == EPISODES
    assert (tmp_path / "wrong" / "report" / "evaluation.html").is_file()
    monkeypatch.delenv("OPENAI_API_KEY")
    code, _, error = ended(command(suite, tmp_path / "none", "--model", "openai/gpt-5-mini"))
    assert code == 64 and "OPENAI_API_KEY" in error and len(error.splitlines()) == 1
    assert not (tmp_path / "none").exists()
    code, _, error = ended(command(suite, tmp_path / "none", "--agent", "nobody"))
    assert code == 64 and "unknown agent 'nobody'" in error and len(error.splitlines()) == 1
