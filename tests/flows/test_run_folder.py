"""Run folders under stress: two processes at once, a kill while runs are spooled, a disk that is full."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from agenthard.flows.audit_plan import AuditInput, AuditSettings, make_plan
from agenthard.flows.errors import RunFolderError
from agenthard.flows.run_folder import RunFolder
from agenthard.taxonomy.files import replacing, write_atomically
from tests.builders import make_run, make_task

TASKS = 40
PATIENCE = 120.0


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("benchmark")
    tasks = [make_task(f"lib/{i}").model_dump_json(exclude={"origins"}) for i in range(TASKS)]
    runs = [make_run(f"lib/{i}", model, passed=i % 3 != 0).model_dump_json() for i in range(TASKS) for model in "ABC"]
    (folder / "tasks.jsonl").write_text("\n".join(tasks) + "\n", encoding="utf-8")
    (folder / "runs.jsonl").write_text("\n".join(runs) + "\n", encoding="utf-8")
    return folder


def start(*arguments: str, home: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "agenthard", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PREFECT_HOME": str(home)},
    )


def audit_command(benchmark: Path, out: Path) -> list[str]:
    runs = str(benchmark / "runs.jsonl")
    return ["audit", "native", str(benchmark), "--runs", runs, "--out", str(out), "--workers", "1"]


@pytest.mark.long
def test_the_second_audit_of_a_folder_is_refused_and_the_first_is_unharmed(benchmark: Path, tmp_path: Path) -> None:
    out, lock = tmp_path / "run", tmp_path / "run" / "work" / "lock"
    first = start(*audit_command(benchmark, out), home=tmp_path / "one")
    deadline = time.monotonic() + PATIENCE
    while not (lock.is_file() and lock.read_text()):
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    first.send_signal(signal.SIGSTOP)  # so that it has not ended by then
    for command in (audit_command(benchmark, out), ["repair", str(out), "--out", str(tmp_path / "repaired")]):
        second = start(*command, home=tmp_path / "two")
        printed, error = second.communicate(timeout=PATIENCE)
        assert (second.returncode, printed) == (3, "")
        assert f"another agenthard process (pid {first.pid}) is working in this folder" in error
    first.send_signal(signal.SIGCONT)
    _, error = first.communicate(timeout=PATIENCE)
    assert first.returncode in (0, 1, 2), error
    assert pq.read_metadata(out / "tables" / "trajectories.parquet").num_rows == 3 * TASKS
    assert json.loads((out / "manifest.json").read_text())["outcome"]["runs"] == 3 * TASKS
    assert lock.read_text() == ""


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from agenthard.flows.run_folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).hold():\n    print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    folder = RunFolder(tmp_path)
    for use in (folder.hold(), folder.read()):
        with pytest.raises(RunFolderError, match=rf"\(pid {holder.pid}\)"), use:
            pass
    holder.kill()
    holder.communicate()
    with folder.read(), RunFolder(tmp_path).read():
        with pytest.raises(RunFolderError, match="reads from it"), RunFolder(tmp_path).hold():
            pass
    with folder.hold():
        pass


def test_a_folder_with_other_files_is_refused_and_an_interrupted_start_is_not(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".key.partial").touch()
    with RunFolder(tmp_path).hold():
        pass
    (tmp_path / "notes.txt").touch()
    with pytest.raises(RunFolderError, match="not empty and holds no audit"), RunFolder(tmp_path).hold():
        pass


def plan(benchmark: Path, out: Path) -> None:
    settings = AuditSettings(source="native", path=str(benchmark), runs=(str(benchmark / "runs.jsonl"),), out=str(out))
    with RunFolder(out).hold():
        make_plan(AuditInput(settings), RunFolder(out))


def spooled(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "work" / "runs").iterdir())}


@pytest.mark.parametrize("moment", ["spooling", "renamed"])
def test_a_kill_while_runs_are_spooled_changes_no_byte(benchmark: Path, tmp_path: Path, moment: str) -> None:
    code = f"""
import os, sys
from pathlib import Path
import agenthard.flows.run_spool as module
from tests.flows.test_run_folder import plan
flush, finish = module.RunSpool._flush, module.RunSpool.finish
def add(self, shard, run, real=module.RunSpool.add):
    real(self, shard, run)
    self.added = getattr(self, "added", 0) + 1
    if self.added % 7 == 0:
        flush(self)
    if self.added == 70 and {moment!r} == "spooling":
        os.kill(os.getpid(), 9)
def finished(self):
    finish(self)
    os.kill(os.getpid(), 9)
module.RunSpool.add, module.RunSpool.finish = add, finished
plan(Path(sys.argv[1]), Path(sys.argv[2]))
"""
    killed = subprocess.run([sys.executable, "-c", code, str(benchmark), str(tmp_path / "killed")], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = [path.name for path in (tmp_path / "killed" / "work").iterdir()]
    assert (".runs.partial" in left, "runs" in left) == ((True, False) if moment == "spooling" else (False, True))
    plan(benchmark, tmp_path / "killed")
    plan(benchmark, tmp_path / "sound")
    assert spooled(tmp_path / "killed") == spooled(tmp_path / "sound")
    assert ".runs.partial" not in [path.name for path in (tmp_path / "killed" / "work").iterdir()]


def test_a_failed_write_leaves_the_old_file_and_names_it(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    write_atomically(file, b"old")
    with pytest.raises(OSError, match=r"No space left on device: .*file\.json"), replacing(file) as partial:
        partial.write_bytes(b"half")
        raise OSError(28, "from write(2), which names no file")
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"] and file.read_bytes() == b"old"
