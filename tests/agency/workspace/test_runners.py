"""What every runner of commands has to do: jobs on this machine, and containers of an engine, here a fake one."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.sandbox.docker import LABEL, Containers, EngineError
from agenthard.agency.workspace import Command, CommandRunner, Difference, LocalJobs, Snapshot, SnapshotStore, Workspace
from agenthard.containment import CommandResult, JobLimits
from tests.agency.sandbox.fake_engine import IMAGE, IMAGE_ID, FakeEngine, fake_engine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands run on Linux")
LIMITS = JobLimits(wall_seconds=60, processes=40)


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with tempfile.TemporaryDirectory() as folder, fake_engine(Path(folder)) as found:
        yield found


@pytest.fixture(params=["job", "docker"])
def runner(request: pytest.FixtureRequest) -> Iterator[CommandRunner]:
    """Each runner; a container must be gone when the test has ended."""
    if request.param == "job":
        yield LocalJobs()
        return
    engine: FakeEngine = request.getfixturevalue("engine")
    yield Containers(IMAGE, engine.address)
    assert engine.created and not engine.containers and len(engine.removed) == len(engine.created)


@pytest.fixture
def workspace(runner: CommandRunner, tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "work", SnapshotStore(tmp_path / "store"), limits=LIMITS, runner=runner)
    made.go_to(Snapshot({}))
    made.write("note", b"hello")
    made.write("old/one", b"1")
    return made


def shell(workspace: Workspace, text: str, **more: Any) -> tuple[CommandResult, Difference]:
    return workspace.run(["/bin/sh", "-c", text], **more)


def left_running(word: str) -> bool:
    """Whether a process other than this one has a word in its command line."""
    for place in Path("/proc").iterdir():
        try:
            line = (place / "cmdline").read_bytes() if place.name.isdigit() else b""
        except OSError:
            continue
        if word.encode() in line and int(place.name) != os.getpid() and b"pytest" not in line:
            return True
    return False


def ends(word: str) -> bool:
    """Wait until no process has a word in its command line: one that was killed may take a moment to go."""
    return any(not left_running(word) or time.sleep(0.05) for _ in range(200))


def test_exit_code_and_both_outputs(workspace: Workspace) -> None:
    done, changed = shell(workspace, "cat note; echo oops >&2; exit 3")
    assert (done.ending, done.exit_code, done.stdout, done.stderr) == ("exit", 3, "hello", "oops\n")
    assert done.left_out == 0 and not changed
    done, _ = shell(workspace, "kill -9 $$")
    assert (done.ending, done.exit_code) == ("exit", 128 + 9)


def test_a_program_that_is_missing_is_said(workspace: Workspace) -> None:
    done, _ = workspace.run(["no-such-program"])
    assert done.exit_code == 127 and "no-such-program" in done.stderr


def test_what_it_writes_and_removes_is_in_the_workspace(workspace: Workspace) -> None:
    done, changed = shell(workspace, "echo made > new; mkdir sub; echo 2 > sub/two; rm -r old; echo more >> note")
    assert done.exit_code == 0
    assert changed == Difference(added=("new", "sub", "sub/two"), removed=("old", "old/one"), changed=("note",))
    assert workspace.read("new") == b"made\n" and workspace.read("note") == b"hellomore\n"
    workspace.write("new", b"ours")
    done, changed = shell(workspace, "cat new; echo theirs > new")
    assert done.stdout == "ours" and changed == Difference(changed=("new",))


def test_it_goes_on_from_a_snapshot(workspace: Workspace) -> None:
    before = workspace.snapshot
    shell(workspace, "rm -r old; echo x > x; chmod 0 note")
    workspace.go_to(before)
    assert shell(workspace, "ls; cat note old/one")[0].stdout == "note\nold\nhello1"


def test_links_out_of_the_workspace_are_kept_and_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "outside"
    target.write_text("ours")
    owner = target.stat().st_uid
    _, changed = shell(workspace, f"ln -s {target} link; ln -s {tmp_path} folder")
    assert changed.added == ("folder", "link")
    with pytest.raises(OSError):
        workspace.write("link", b"theirs")
    assert shell(workspace, "true")[0].exit_code == 0
    assert target.read_text() == "ours" and target.stat().st_uid == owner


def test_output_is_kept_from_both_ends_and_bounded(workspace: Workspace) -> None:
    workspace.limits = LIMITS.model_copy(update={"kept_output_bytes": 100})
    done, _ = shell(workspace, "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo last")
    assert done.stdout.startswith("first\nxx") and done.stdout.endswith("xxlast\n")
    assert done.left_out == 1_000_011 - 100 and f"[{done.left_out} bytes left out]" in done.stdout
    workspace.limits = LIMITS.model_copy(update={"output_bytes": 1 << 20})
    done, _ = shell(workspace, "yes")
    assert (done.ending, done.exit_code) == ("output", None)


def test_a_hang_is_killed_with_all_its_processes(workspace: Workspace) -> None:
    done, changed = shell(workspace, "echo begun > begun; sleep 86543 & sleep 86543", seconds=1.0)
    assert (done.ending, done.exit_code) == ("timeout", None) and ends("sleep\x0086543")
    assert changed.added == ("begun",)


def test_a_hang_that_has_closed_its_output_is_killed(workspace: Workspace) -> None:
    done, _ = shell(workspace, "exec >&- 2>&-; sleep 85432", seconds=1.0)
    assert done.ending == "timeout" and ends("sleep\x0085432")


def test_what_it_leaves_running_is_killed(workspace: Workspace) -> None:
    done, _ = shell(workspace, "sleep 84321 & echo started")
    assert (done.ending, done.stdout) == ("exit", "started\n") and ends("sleep\x0084321")


def test_a_full_workspace_stops_the_command(workspace: Workspace) -> None:
    workspace.limits = LIMITS.model_copy(update={"folder_entries": 100})
    done, _ = shell(workspace, "i=0; while true; do : > g$i; i=$((i+1)); done")
    assert done.ending == "folder"


def test_variables(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THIS_MACHINE", "1")
    done, _ = shell(workspace, "env", environment={"TASK": "a=b c"})
    lines = done.stdout.splitlines()
    assert {"TASK=a=b c", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C.UTF-8", "TZ=UTC"} <= set(lines)
    assert "SECRET_OF_THIS_MACHINE" not in done.stdout and any(line.startswith("PATH=/usr/local/") for line in lines)


def test_nothing_is_left_of_a_run_that_is_interrupted(workspace: Workspace, tmp_path: Path) -> None:
    begun = tmp_path / "work/begun"

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        shell(workspace, "echo 1 > begun; sleep 83210")
    assert ends("sleep\x0083210")


KILLED = """
import sys
from pathlib import Path
from agenthard.agency.sandbox.docker import Containers
from agenthard.agency.workspace import Command
from agenthard.containment import JobLimits
command = ["/bin/sh", "-c", "echo 1 > begun; sleep 82109"]
Containers(sys.argv[1], sys.argv[2]).run(Command(command, Path(sys.argv[3]), JobLimits()))
"""


def test_a_container_of_a_process_that_was_killed_is_removed_by_the_next_run(
    engine: FakeEngine, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    process = subprocess.Popen([sys.executable, "-P", "-c", KILLED, IMAGE, engine.address, str(folder)])
    while not (folder / "begun").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert len(engine.containers) == 1 and left_running("sleep\x0082109")
    other = tmp_path / "other"
    other.mkdir()
    Containers(IMAGE, engine.address).run(Command(["true"], other, LIMITS))
    assert len(engine.containers) == 1, "the container of another folder was removed"
    Containers(IMAGE, engine.address).run(Command(["true"], folder, LIMITS))
    assert not engine.containers and ends("sleep\x0082109")


def test_what_a_container_is_asked_for(engine: FakeEngine, tmp_path: Path) -> None:
    folder, tools = tmp_path / "work", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    limits = JobLimits(processes=9, memory_bytes=1 << 28, cpu_seconds=7, file_bytes=1 << 20, open_files=64)
    Containers(IMAGE, engine.address).run(Command(["/bin/echo", "a b"], folder, limits, readable=[tools]))
    [asked] = engine.created
    host = asked["HostConfig"]
    assert (asked["Image"], asked["Entrypoint"], asked["Cmd"]) == (IMAGE_ID, ["/bin/echo"], ["a b"])
    assert asked["NetworkDisabled"] is True and host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True and not host.get("Privileged")
    assert host["CapDrop"] == ["ALL"] and host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"], host["NanoCpus"]) == (1 << 28, 1 << 28, 10, 10**9)
    assert {item["Name"]: (item["Soft"], item["Hard"]) for item in host["Ulimits"]} == {
        "cpu": (7, 7),
        "fsize": (1 << 20, 1 << 20),
        "nofile": (64, 64),
        "core": (0, 0),
    }
    mounts = [(each["Type"], each["Source"], each["Target"], bool(each.get("ReadOnly"))) for each in host["Mounts"]]
    assert mounts == [("bind", str(folder), "/tmp/workspace", False), ("bind", str(tools), str(tools), True)]
    assert "size=134217728" in host["Tmpfs"]["/tmp"] and "nosuid" in host["Tmpfs"]["/tmp"]
    user = "65534:65534" if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"
    assert asked["User"] == user and not user.startswith("0:")
    assert list(asked["Labels"]) == [LABEL] and str(tmp_path) not in str(asked["Labels"])
    assert host["LogConfig"]["Type"] == "none" and host["Init"] is True


def test_no_engine_no_image_and_mapped_users_are_said(engine: FakeEngine, tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path}/none.sock"
    with pytest.raises(EngineError, match=f"the Docker engine at {nowhere} cannot be used: ") as caught:
        Containers(IMAGE, nowhere).run(Command(["true"], tmp_path, LIMITS))
    assert caught.value.code == "AH657" and "docker pull" in caught.value.remedy
    with pytest.raises(EngineError, match="has no image 'other:2'"):
        Containers("other:2", engine.address).run(Command(["true"], tmp_path, LIMITS))
    assert Containers("other:2", engine.address).described().startswith("none: the Docker engine at ")
    engine.security.append("name=rootless")
    with pytest.raises(EngineError, match="maps users \\(rootless\\)"):
        Containers(IMAGE, engine.address).run(Command(["true"], tmp_path, LIMITS))
    assert engine.created == []
