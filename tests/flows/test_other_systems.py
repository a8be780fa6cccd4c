"""Commands where Python lacks what only Linux has: processor affinity, flock, limits of processes, users."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agenthard.taxonomy import system
from agenthard.taxonomy.system import cpu_count, lock_file
from tests.builders import make_run, make_task

ABSENT = """
import os, signal, sys
for name in ("sched_getaffinity", "sched_setaffinity", "killpg", "fork", "pidfd_open"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "setitimer", "SIGPROF"):
    if hasattr(signal, name):
        delattr(signal, name)
for name in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[name] = None
sys.argv[0] = "agenthard"
from agenthard.flows.cli import main
main()
"""


def run(*words: str | Path, cwd: Path, codes: tuple[int, ...] = (0,)) -> str:
    home = {"PREFECT_HOME": str(cwd / "prefect")}
    command = [sys.executable, "-P", "-c", ABSENT, *map(str, words)]
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **home}, capture_output=True, text=True, check=False)
    assert done.returncode in codes, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("system")
    tasks = [make_task(f"lib/{i}") for i in range(4)]
    runs = [make_run(task.id, model, passed=i % 2 == 0) for i, task in enumerate(tasks) for model in "AB"]
    (folder / "tasks.jsonl").write_text("".join(t.model_dump_json(exclude={"origins"}) + "\n" for t in tasks))
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs))
    words = ("native", ".", "--runs", "runs.jsonl", "--out", "run", "--workers", "1")
    assert "4 tasks" in run("audit", *words, cwd=folder, codes=(0, 1))
    return folder


@pytest.mark.long
def test_a_benchmark_is_audited_reported_and_judged(audited: Path) -> None:
    assert "report.html" in run("report", "run", "--draws", "200", "--resamples", "20", cwd=audited, codes=(0, 2))
    judges = "judges:\n  - {name: a, model: openai/gpt-5}\n"
    (audited / "judges.yaml").write_text(judges)
    words = ("export", "run", "--judges", "judges.yaml", "--workers", "1", "--out", "prompts.jsonl")
    run("judge", *words, cwd=audited)
    assert (audited / "prompts.jsonl").stat().st_size > 0


@pytest.mark.long
def test_catalogues_and_suites(audited: Path) -> None:
    assert "call-schema" in run("checks", cwd=audited)
    small = ("-H", "2", "-B", "2", "--domain", "course", "--workers", "1")
    run("ace", "generate", "--out", "suite", *small, cwd=audited)
    words = ("evaluate", "ace", "suite", "--agent", "random", "--workers", "1", "--out", "played")
    assert "episodes played" in run(*words, cwd=audited)


def test_elsewhere_benchmark_code_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from agenthard.audit.execution.environment import UnavailableError
    from agenthard.audit.execution.workers.sandbox import Sandbox
    from agenthard.models.limits import Limits

    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UnavailableError, match="runs on Linux only"):
        Sandbox(Path(sys.executable), Path("script.py"), Limits())


def test_processors_are_counted_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpu_count() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cpu_count() == os.cpu_count()


def test_windows_locks_a_byte_beyond_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []

    def locking(handle: int, mode: int, length: int) -> None:
        if taken:
            raise PermissionError(13, "held")
        taken.append((os.lseek(handle, 0, os.SEEK_CUR), length))

    windows: Any = SimpleNamespace(locking=locking, LK_NBLCK=2)
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "msvcrt", windows)
    with (tmp_path / "lock").open("a+") as stream:
        stream.write("7\n")
        stream.flush()
        lock_file(stream)
        assert taken == [(system.LOCKED_BYTE, 1)] and stream.tell() == 2
        with pytest.raises(BlockingIOError):
            lock_file(stream, shared=True)
