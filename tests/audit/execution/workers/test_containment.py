"""Each test makes benchmark code misbehave in one way, and then asks the same worker for honest work."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.workers import Isolation, Worker, WorkerLimits, WorkerPool

SCRIPT = Path(__file__).with_name("misbehaving.py")


@pytest.fixture
def worker(pool: WorkerPool) -> Iterator[Worker]:
    lent = pool.lease()
    yield lent
    assert list(lent.ask({"acts": ["echo"], "with": "still here"})) == ["still here"]


def ask(worker: Worker, act: str, value: Any = None) -> Any:
    [answer] = worker.ask({"acts": [act], "with": value})
    return answer


def failure(worker: Worker, act: str, value: Any = None) -> str:
    with pytest.raises(ExecutionError, match="the benchmark's code was stopped") as raised:
        ask(worker, act, value)
    assert worker.fresh
    return str(raised.value)


def test_a_loop_is_stopped_by_processor_time(worker: Worker) -> None:
    assert "more than 1 s of processor time" in failure(worker, "loop")


def test_a_hang_is_stopped_by_the_clock() -> None:
    worker = Worker(Path(sys.executable), SCRIPT, WorkerLimits(wall_seconds=0.3))
    assert "no answer within 0.3 s" in failure(worker, "sleep")
    worker.close()


@pytest.mark.parametrize(
    ("act", "what"),
    [
        ("fork", "tried to fork"),
        ("start_program", "tried to start a process"),
        ("connect", "tried to use a socket"),
        ("exit", "called exit (3)"),
        ("leave", "ended itself with exit code 0"),
        ("crash", "SIGABRT"),
        ("raise", "KeyboardInterrupt"),
    ],
)
def test_a_forbidden_act_ends_the_process_with_its_reason(worker: Worker, act: str, what: str) -> None:
    assert what in failure(worker, act)


def test_files_outside_the_own_folder_stay_as_they_are(worker: Worker, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    assert f"tried to write to {precious}" in failure(worker, "write", str(precious))
    assert f"tried to change {precious} (os.remove)" in failure(worker, "remove", str(precious))
    assert precious.read_text() == "kept"


def test_the_own_folder_is_writable_up_to_a_limit_and_removed(worker: Worker) -> None:
    assert ask(worker, "write", "note") is None
    assert ask(worker, "list", ".") == ["note"]
    home = Path(ask(worker, "about")["folder"]).parent
    assert "a file of more than 1048576 bytes" in failure(worker, "fill_disk", 3)
    assert len(ask(worker, "list", str(home))) == 1
    worker.close()
    assert not home.exists()


def test_memory_is_limited(worker: Worker) -> None:
    assert "no memory" in failure(worker, "allocate", 8 << 30)
    assert ask(worker, "allocate", 1 << 20) == 1 << 20


def test_no_thread_can_be_started(worker: Worker) -> None:
    assert ask(worker, "thread") == "swallowed RuntimeError"


def test_deep_recursion_is_an_ordinary_exception(worker: Worker) -> None:
    assert ask(worker, "recurse") == "swallowed RecursionError"


def test_what_is_printed_cannot_break_the_protocol(worker: Worker) -> None:
    assert ask(worker, "print") == "printed"
    assert ask(worker, "read_stdin") == ""


def test_an_endless_answer_is_cut(worker: Worker) -> None:
    assert "an answer of more than 1048576 bytes" in failure(worker, "long_answer", 4 << 20)


def test_the_environment_is_empty(worker: Worker) -> None:
    about = ask(worker, "about")
    assert about["environment"] == ["HOME", "LANG", "LC_ALL", "PATH", "PYTHONHASHSEED", "TMPDIR", "TZ"]
    assert about["folder"] == about["own"] != os.getcwd()
    assert about["uid"] != 0


def test_native_code_meets_the_kernel(worker: Worker, tmp_path: Path) -> None:
    """The watch sees Python only; calls of the C library fail too."""
    ask(worker, "echo")
    assert worker.isolation == Isolation(user=user(), landlock=worker.isolation.landlock if worker.isolation else 0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert ask(worker, "native_connect", server.getsockname()[1]) == -1
    assert ask(worker, "native_fork_bomb") == 0
    assert ask(worker, "native_write", str(tmp_path / "new")) == -1
    assert not (tmp_path / "new").exists()
    assert ask(worker, "native_kill_parent") == -1


def user() -> str:
    return "own" if os.geteuid() else "nobody"
