"""Jobs: what a command may do, where it is stopped, and that nothing of it is left."""

import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agenthard.containment import JobError, JobLimits, JobResult, run_job
from agenthard.containment.cgroup import Cgroup
from agenthard.containment.isolation import LAYERS, OFF_VARIABLE
from agenthard.containment.job import isolation_lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="jobs run on Linux")
ROOT = os.geteuid() == 0
QUICK = JobLimits(wall_seconds=60, processes=40)
FEW = JobLimits(wall_seconds=60, processes=12)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir(mode=0o700)
    (made / "note").write_text("hello")
    return made


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that other users can reach, which a job without a mount namespace needs."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "note").write_text("hello")
        yield Path(name)


def shell(folder: Path, text: str, limits: JobLimits = QUICK, **changes: object) -> JobResult:
    return run_job(["/bin/sh", "-c", text], folder, limits, **changes)  # type: ignore[arg-type]


def left_running(word: str) -> list[str]:
    """Command lines of processes that hold a word."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes() if place.name.isdigit() else b""
        except OSError:
            continue
        if word.encode() in line and b"pytest" not in line:
            found.append(line.decode(errors="replace"))
    return found


def test_a_command_works_on_its_folder_and_may_start_processes(folder: Path) -> None:
    done = shell(folder, "pwd; cat note | tr a-z A-Z; echo made > new; mkdir sub; echo oops >&2; exit 3")
    assert (done.ending, done.exit_code, done.stderr) == ("exit", 3, "oops\n")
    assert done.stdout == "/tmp/workspace\nHELLO" and done.isolation.missing == {}
    assert (folder / "new").read_text() == "made\n" and (folder / "sub").is_dir()
    assert (folder / "new").stat().st_uid == os.geteuid()


def test_nothing_outside_can_be_changed_or_looked_into(folder: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold"
    gold.mkdir()
    (gold / "answer").write_text("forty-two")
    place = "/var/tmp/agenthard-probe"
    text = f"cat {gold}/answer; ls {tmp_path}; touch {place} {Path(__file__).parent}/x; echo $?; ls /tmp; id -u"
    done = shell(folder, text, hidden=[gold])
    assert "forty" not in done.stdout and not Path(place).exists()
    *rest, user = done.stdout.split()
    assert rest == ["1", "workspace"] and (int(user) >= 65534 if ROOT else int(user) == os.geteuid())


@pytest.mark.skipif(not ROOT, reason="only root can give jobs users of their own")
def test_jobs_at_the_same_time_do_not_count_each_others_processes(tmp_path: Path) -> None:
    def busy(number: int) -> str:
        place = tmp_path / str(number)
        place.mkdir()
        return shell(place, "for i in 1 2 3 4 5 6; do sleep 1 & done; wait; id -u; echo done", FEW).stdout

    with ThreadPoolExecutor(4) as pool:
        said = [each.split() for each in pool.map(busy, range(4))]
    assert [each[-1] for each in said] == ["done"] * 4
    assert len({each[0] for each in said}) == 4 or said[0][0] == "65534"


def test_a_hidden_folder_is_closed_wherever_it_is(folder: Path) -> None:
    shared = Path("/usr/share/doc") if Path("/usr/share/doc").is_dir() else Path("/usr/share")
    assert shell(folder, f"ls {shared}").exit_code == 0
    assert shell(folder, f"ls {shared}", hidden=[shared]).exit_code != 0


def test_there_is_no_network_but_its_own(folder: Path) -> None:
    text = (
        "import socket\n"
        "s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); print('own')\n"
        "try: socket.create_connection(('1.1.1.1', 53), 3)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    done = run_job(["/usr/bin/env", "python3", "-c", text], folder, QUICK)
    assert done.stdout == "own\nNetwork is unreachable\n"


def test_what_it_leaves_running_is_killed(folder: Path) -> None:
    done = shell(folder, "(setsid sleep 98765 &) ; sleep 98765 & echo started")
    assert done.stdout == "started\n" and done.ending == "exit"
    assert left_running("98765") == []


def test_a_hang_is_killed_with_all_its_processes(folder: Path) -> None:
    done = shell(folder, "sleep 87654 & sleep 87654", JobLimits(wall_seconds=0.5))
    assert (done.ending, done.exit_code) == ("timeout", None)
    assert left_running("87654") == []


def test_forking_without_end_is_bounded_and_killed(folder: Path) -> None:
    bomb = "import os, time\nwhile True:\n try: os.fork()\n except OSError: time.sleep(0.05)"
    done = run_job(["/usr/bin/env", "python3", "-c", bomb], folder, JobLimits(wall_seconds=1, processes=20))
    assert done.ending == "timeout" and left_running("os.fork") == []
    made = shell(folder, "i=0; while [ $i -lt 30 ]; do sleep 60 & i=$((i+1)); done; echo all", JobLimits(processes=10))
    assert "all" not in made.stdout and made.ending == "exit"


def test_a_full_disk_stops_the_job(folder: Path) -> None:
    most = JobLimits(folder_bytes=8 << 20, file_bytes=2 << 20, wall_seconds=60)
    done = shell(folder, "i=0; while true; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done", most)
    assert done.ending == "folder"
    one = shell(folder, "rm -f f*; exec head -c 100000000 /dev/zero > big", most)
    assert one.exit_code == 128 + 25 and (folder / "big").stat().st_size == 2 << 20  # SIGXFSZ
    files = JobLimits(folder_entries=100, wall_seconds=60)
    done = shell(folder, "rm -f big; i=0; while true; do : > g$i; i=$((i+1)); done", files)
    assert done.ending == "folder"
    full = shell(folder, "rm -f g*; head -c 100000000 /dev/zero > /tmp/x; echo $?", JobLimits(temporary_bytes=1 << 20))
    assert full.stdout == "1\n" and "No space left" in full.stderr


def test_output_is_kept_from_both_ends_and_bounded(folder: Path) -> None:
    done = shell(
        folder, "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo last", JobLimits(kept_output_bytes=100)
    )
    assert done.stdout.startswith("first\nxx") and done.stdout.endswith("xx\x6cast\n"[-7:])
    assert done.left_out == 1_000_011 - 100 and f"[{done.left_out} bytes left out]" in done.stdout
    assert shell(folder, "yes", JobLimits(output_bytes=1 << 20)).ending == "output"


def test_memory_and_processor_time_are_limited(folder: Path) -> None:
    small = JobLimits(memory_bytes=256 << 20, cpu_seconds=1)
    done = run_job(["/usr/bin/env", "python3", "-c", "x = bytearray(1 << 30)"], folder, small)
    assert done.exit_code == 1 and "MemoryError" in done.stderr
    assert shell(folder, "while :; do :; done", small).exit_code == 128 + 9  # SIGKILL at the hard limit


def test_privileges_stay_low(folder: Path) -> None:
    done = shell(folder, "unshare -Ur true; echo $?; mount -t tmpfs none /mnt; echo $?; cat /proc/self/status")
    assert done.stdout.split()[:2] != ["0", "0"] and "NoNewPrivs:\t1" in done.stdout
    assert "CapEff:\t0000000000000000" in done.stdout


def test_a_program_that_is_missing_is_said(folder: Path) -> None:
    done = run_job(["no-such-program"], folder, QUICK)
    assert done.exit_code == 127 and "no-such-program: No such file or directory" in done.stderr


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_a_missing_layer_is_refused_or_named(
    folder: Path, reachable: Path, layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OFF_VARIABLE, layer)
    with pytest.raises(JobError, match="the job is not started, because this machine cannot contain it fully"):
        shell(folder, "echo hello")
    done = shell(reachable, "echo hello; cat note", weak_isolation=True)
    assert done.stdout == "hello\nhello" and done.exit_code == 0
    assert isolation_lines(done.isolation) == (f"without {LAYERS[layer]}: switched off",)


def test_without_namespaces_what_is_left_is_killed_too(reachable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OFF_VARIABLE, "files,network,processes")
    done = shell(reachable, "(setsid sleep 76543 &) ; sleep 76543 & echo started", weak_isolation=True)
    assert done.stdout == "started\n" and left_running("76543") == []


def test_a_control_group_is_removed() -> None:
    group = Cgroup.make(5)
    if group is not None:  # as root, where the tree of control groups is writable
        assert (group.folder / "pids.max").read_text() == "7\n"
        group.remove()
        assert not group.folder.exists()
