"""Commands in hostile surroundings: signals, no home, a closed pipe, a full disk, hostile text, an unforeseen error."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import agenthard.flows.cli as cli
from agenthard.flows import shard_worker
from agenthard.flows.audit_plan import AuditSettings
from tests.builders import make_run
from tests.flows.judging.made import case

PATIENCE = 300.0
TASKS = 40


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmark(tmp_path_factory.mktemp("benchmark"), TASKS)


def write_benchmark(folder: Path, tasks: int) -> Path:
    lines = [case(number).model_dump_json(exclude={"origins"}) for number in range(tasks)]
    runs = [make_run(f"lib/{i}", name, passed=i % 3 != 0).model_dump_json() for i in range(tasks) for name in "AB"]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "runs.jsonl").write_text("\n".join(runs) + "\n", encoding="utf-8")
    return folder


def words(benchmark: Path, out: Path, workers: int = 1) -> list[str]:
    runs = str(benchmark / "runs.jsonl")
    return ["audit", "native", str(benchmark), "--runs", runs, "--out", str(out), "--workers", str(workers)]


def start(arguments: list[str], home: Path, **environment: str | None) -> "subprocess.Popen[bytes]":
    merged = {**os.environ, "PREFECT_HOME": str(home), **environment}
    env = {name: value for name, value in merged.items() if value is not None}
    command = [sys.executable, "-m", "agenthard", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True)


def processes() -> dict[int, tuple[int, str]]:
    """All processes: number → number of the parent, command line."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                if status[0] != "Z":
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(folder.name)] = int(status[1]), line
            except OSError:
                continue
    return found


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_before_the_work_begins_is_one_line_and_exit_code_3(number: str) -> None:
    sent = f"os.kill(os.getpid(), signal.{number})"
    code = f"import importlib.metadata as m, os, signal; m.version = lambda _: {sent}; import agenthard.flows.cli as c"
    command = [sys.executable, "-P", "-c", f"{code}; c.main()", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (3, "agenthard: interrupted\n")


@pytest.mark.parametrize("begun", [0.0, shard_worker.LONG_READING])
def test_the_thread_that_starts_processes_ends_with_the_audit(begun: float) -> None:
    before = set(threading.enumerate())
    with (
        pytest.raises(KeyboardInterrupt),
        shard_worker.worker_pool(AuditSettings(source="", path="", out="", workers=2)),
    ):
        time.sleep(begun)
        raise KeyboardInterrupt
    assert not [thread for thread in set(threading.enumerate()) - before if isinstance(thread, threading.Timer)]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    process = start(words(write_benchmark(tmp_path, 400), tmp_path / "out", workers=3), tmp_path / "home")
    deadline = time.monotonic() + PATIENCE
    children: dict[int, str] = {}
    while sum("spawn_main" in line for line in children.values()) < 2:
        assert process.poll() is None and time.monotonic() < deadline, children
        children = {pid: line for pid, (parent, line) in processes().items() if parent == process.pid}
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate(timeout=PATIENCE)
    deadline = time.monotonic() + 15
    while (left := children.keys() & processes().keys()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left, {pid: children[pid] for pid in left}
    if number != signal.SIGKILL:
        assert process.returncode == 3
        assert error.decode().startswith("error AH805: interrupted; finished shards are kept"), error.decode()


@pytest.mark.long
def test_an_audit_needs_no_home_and_no_locale(benchmark: Path, tmp_path: Path) -> None:
    process = start(words(benchmark, tmp_path / "out"), tmp_path, HOME="/proc", PREFECT_HOME=None, LC_ALL="C")
    printed, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error.decode()
    assert "40 tasks" in printed.decode() and error == b""


@pytest.mark.long
def test_a_full_disk_is_named_and_the_same_command_goes_on(benchmark: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a disk of its own can be mounted by root alone")
    try:
        full = start(words(benchmark, disk / "out"), tmp_path / "home")
        printed, error = full.communicate(timeout=PATIENCE)
        assert (full.returncode, printed) == (3, b"")
        assert b"error: No space left on device: " in error and str(disk).encode() in error, error.decode()
        assert error.count(b"\n") == 1
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        again = start(words(benchmark, disk / "out"), tmp_path / "home")
        _, error = again.communicate(timeout=PATIENCE)
        assert again.returncode == 0, error.decode()
        sound = start(words(benchmark, tmp_path / "sound"), tmp_path / "home")
        sound.communicate(timeout=PATIENCE)
        assert contents(disk / "out") == contents(tmp_path / "sound")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def contents(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and "work" not in p.relative_to(folder).parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def test_a_folder_that_cannot_be_written_is_named(benchmark: Path, tmp_path: Path) -> None:
    process = start(words(benchmark, Path("/proc/agenthard")), tmp_path)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3 and b"/proc/agenthard" in error and error.count(b"\n") == 1


def test_a_closed_pipe_is_no_defect(tmp_path: Path) -> None:
    process = start(["checks"], tmp_path)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(PATIENCE) != 1 and b"Traceback" not in error, error.decode()


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, bytes, bytes]:
    """Run the console script in this process; returns exit code and what it wrote."""
    out, err = io.BytesIO(), io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["agenthard", *arguments])
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8", write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding="utf-8", write_through=True))
        patch.setattr(signal, "signal", lambda *_: None)
        with pytest.raises(SystemExit) as caught:
            cli.main()
        code = caught.value.code
        return (code if isinstance(code, int) else 0), out.getvalue(), err.getvalue()


def test_an_unforeseen_error_is_one_message_and_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("odd \x1b[2J text \ud800")

    monkeypatch.setattr("agenthard.flows.audit_plan.open_source", lambda *_: broken())
    code, out, err = call(monkeypatch, "audit", "native", "nowhere", "--out", "x")
    assert (code, out) == (3, b"")
    assert err.startswith(b"error: unexpected RuntimeError: odd \\x1b[2J text \\ud800. This is a defect of AgentHard")
    monkeypatch.setenv("AGENTHARD_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["agenthard", "audit", "native", "nowhere", "--out", "x"])
    with monkeypatch.context() as patch:
        patch.setattr(signal, "signal", lambda *_: None)
        with pytest.raises(RuntimeError):
            cli.main()


def test_help_and_usage_errors_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = call(monkeypatch, "--help")
    assert code == 0 and "audit" in out.decode()
    code, _, err = call(monkeypatch, "audit", "--nonsense")
    assert code == 64 and "nonsense" in err.decode()
