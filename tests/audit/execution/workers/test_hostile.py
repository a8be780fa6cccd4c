"""Attacks by a benchmark's data and by its code, on the containment as it is and with each layer switched off."""

import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.workers import (
    Worker,
    WorkerLimits,
    WorkerPool,
    WorkerSession,
    sandbox,
    why_not_contained,
)
from agenthard.containment.inside.seccomp import MACHINES, numbers
from agenthard.containment.isolation import LAYERS, OFF_VARIABLE
from tests.builders import make_task

HERE = Path(__file__).parent
PYTHON = Path(sys.executable)
LIMITS = WorkerLimits(
    wall_seconds=30,
    cpu_seconds=2,
    process_cpu_seconds=4,
    request_seconds=20,
    memory_bytes=512 << 20,
    file_bytes=1 << 20,
    folder_bytes=8 << 20,
    folder_entries=200,
    answer_bytes=1 << 20,
    request_bytes=4 << 20,
)


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(PYTHON, HERE / "hostile.py", LIMITS)
    yield made
    assert run(made, "result = 'still here'") == "still here"
    made.close()


def run(worker: Worker, code: str) -> Any:
    [answer] = worker.ask({"code": code}, 1)
    return answer


def stopped(worker: Worker, code: str, many: bool = False, answers: int | None = 1) -> str:
    with pytest.raises(ExecutionError) as raised:
        list(worker.ask({"code": code, "many": many}, answers))
    return str(raised.value)


def test_no_way_to_native_code_lies_in_memory(worker: Worker) -> None:
    code = """
import gc, sys
names = {name for name in sys.modules if "ctypes" in name or "cffi" in name}
names |= {repr(each) for each in gc.get_objects() if "ctypes" in (type(each).__module__ or "")}
kinds, seen = [object], set()
while kinds:
    kind = kinds.pop()
    for each in type.__subclasses__(kind):
        if each not in seen:
            seen.add(each)
            kinds.append(each)
            names |= {each.__module__} if "ctypes" in str(each.__module__) else set()
frame = sys._getframe()
while frame:
    for held in (frame.f_globals, frame.f_locals):
        names |= {name for name, value in held.items() if "ctypes" in type(value).__module__ or "libc" in name}
    frame = frame.f_back
result = sorted(names)
"""
    assert run(worker, code) == []


@pytest.mark.parametrize("module", ["ctypes", "_ctypes"])
def test_a_way_to_native_code_cannot_be_imported(worker: Worker, module: str) -> None:
    assert "it tried to call native code" in stopped(worker, f"import {module}")


@pytest.mark.skipif(os.uname().machine not in MACHINES, reason="no table of system calls for this machine")
def test_calls_of_the_kernel_are_refused() -> None:
    """The script of this worker took the C library while it was imported: the worst that a benchmark can do."""
    worker = Worker(PYTHON, HERE / "misbehaving.py", LIMITS)
    calls = numbers(os.uname().machine)
    [answers] = worker.ask({"acts": ["system_calls"], "with": sorted(calls.values())}, 1)
    assert dict(answers) == dict.fromkeys(calls.values(), "Operation not permitted")
    clone, clone3, execve = {"x86_64": (56, 435, 59), "aarch64": (220, 435, 221)}[os.uname().machine]
    [answers] = worker.ask({"acts": ["system_calls"], "with": [clone3, 463, execve]}, 1)
    refused = ["Function not implemented", "Function not implemented", "Operation not permitted"]
    assert [answer for _, answer in answers] == refused
    [answer] = worker.ask({"acts": ["namespace"], "with": clone}, 1)
    assert answer == "Operation not permitted"
    worker.close()


def test_unix_sockets_are_out_of_reach(tmp_path: Path) -> None:
    worker = Worker(PYTHON, HERE / "misbehaving.py", LIMITS)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        [answer] = worker.ask({"acts": ["native_unix"], "with": str(tmp_path / "socket")}, 1)
    assert answer == [-1, -1]
    worker.close()


def test_other_processes_are_out_of_reach(worker: Worker) -> None:
    for path in (f"/proc/{os.getpid()}/environ", f"/proc/{os.getppid()}/environ"):
        assert run(worker, refusal(f"open({path!r}, 'rb').read()")) in ("PermissionError", "FileNotFoundError")
    assert str(os.getpid()) not in run(worker, "import os; result = ' '.join(os.listdir('/proc'))").split()
    assert run(worker, refusal("os.open('/proc/1/mem', os.O_RDONLY) and os.stat('/proc/1/environ').st_uid")) != 0


def refusal(expression: str) -> str:
    return f"""
import os
try:
    result = {expression}
except OSError as error:
    result = type(error).__name__
"""


def test_limits_cannot_be_raised(worker: Worker) -> None:
    code = """
import resource
result = []
for name in ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
    for most in (resource.RLIM_INFINITY, resource.getrlimit(getattr(resource, name))[1] + 1):
        try:
            resource.setrlimit(getattr(resource, name), (most, most))
            result.append(name)
        except (ValueError, OSError):
            pass
"""
    assert run(worker, code) == []


def test_work_after_a_forged_end_is_stopped_by_the_kernel(worker: Worker) -> None:
    """The soft limit can be raised to the hard one; the hard one ends the process."""
    code = """
import gc, os, resource, sys
frame = sys._getframe()
while "self" not in frame.f_locals or not hasattr(frame.f_locals["self"], "_channel"):
    frame = frame.f_back
hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
os.write(frame.f_locals["self"]._channel, b'{"value": 1}\\n{"end": true}\\n')
while True:
    pass
"""
    assert run(worker, code) == 1
    assert "more than 4 s of processor time" in stopped(worker, "result = 2")


@pytest.mark.parametrize("value", ["1", "'x' * 500_000"])
def test_endless_answers_end(worker: Worker, value: str) -> None:
    code = f"import itertools; result = itertools.repeat({value})"
    assert "more answers than it was asked for" in stopped(worker, code, many=True, answers=3)
    began = time.monotonic()
    assert re.search(
        "bytes of answers to|more than 20 s for|processor time", stopped(worker, code, many=True, answers=None)
    )
    assert time.monotonic() - began < LIMITS.request_seconds + 5


def test_slow_answers_end_with_the_request() -> None:
    worker = Worker(PYTHON, HERE / "hostile.py", WorkerLimits(request_seconds=1))
    code = "import itertools, time; result = (time.sleep(0.3) for _ in itertools.count())"
    assert "more than 1 s for one request" in stopped(worker, code, many=True, answers=None)
    worker.close()


def test_endless_verdicts_are_no_verdicts_on_other_attempts() -> None:
    pool = WorkerPool(PYTHON, HERE / "hostile.py", LIMITS)
    session = WorkerSession()
    session.open(make_task(), pool)
    request = {"code": "import itertools; result = itertools.repeat({'passed': True})", "many": True}
    found = list(session.judge(request, ["a", "b"]))
    assert found[:2] == [{"passed": True}] * 2
    assert len(found) == 2
    session.close()
    pool.close()


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("result = []\nfor _ in range(900): result = [result]", "nested more than 100 levels deep"),
        ("result = '\\\\ud83d'.encode().decode('unicode_escape')", "cannot be understood"),
    ],
)
def test_odd_answers_are_refused(worker: Worker, code: str, what: str) -> None:
    assert what in stopped(worker, code)


def test_the_folder_holds_only_so_much(worker: Worker) -> None:
    code = """
import os
written = 0
try:
    for number in range(10_000):
        with open(f"f{number}", "wb") as file:
            file.write(bytes(SIZE))
        written += 1
except OSError as error:
    result = [written, error.strerror]
"""
    for size, most in ((1 << 20, 8), (0, 200)):
        written, reason = run(worker, code.replace("SIZE", str(size)))
        assert written <= most
        assert reason == "No space left on device"
        worker.restart()


def test_nothing_is_left_for_the_next_task(worker: Worker) -> None:
    code = """
import os
os.makedirs("a/b/c")
open("a/b/c/left", "w").write("for the next")
for name in ("a/b/c", "a/b", "a"):
    os.chmod(name, 0)
os.chmod(".", 0)
result = os.getcwd()
"""
    home = run(worker, code)
    worker.restart()
    assert run(worker, f"import os; result = os.path.exists({home!r})") is False


def test_a_fork_bomb_has_no_second_process() -> None:
    worker = Worker(PYTHON, HERE / "misbehaving.py", LIMITS)
    assert list(worker.ask({"acts": ["native_fork_bomb"]}, 1)) == [0]
    worker.close()


def attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let a checkout attack while it is imported; return what came of each act."""
    tmp_path.chmod(0o755)
    secret = tmp_path / "secret"
    secret.write_text("sk-1234")
    secret.chmod(0o600)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234")
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = (str(secret), str(tmp_path / "new"), str(server.getsockname()[1]), str(os.getpid()))
        worker = Worker(PYTHON, HERE / "hostile_import.py", LIMITS, arguments)
        try:
            [found] = worker.ask({}, 1)
        finally:
            worker.close()
    assert not (tmp_path / "new").exists()
    return dict(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user may read what he may read")
def test_a_checkout_is_contained_from_its_import_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = attack(tmp_path, monkeypatch)
    assert found.pop("uid") == "65534"
    assert found.pop("keys") == ""
    assert not [name for name, what in found.items() if what.startswith("done")]


def test_an_import_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)
    script = tmp_path / "endless.py"
    script.write_text("import os\ndef setup():\n    os.fork(); os.fork()\n    while True: pass\n")
    monkeypatch.setattr(sandbox, "START_SECONDS", 2.0)
    worker = Worker(PYTHON, script)
    for _ in range(3):  # the third time it is not started any more
        with pytest.raises(UnavailableError, match="no answer within 2 s"):
            list(worker.ask({}))
    time.sleep(0.5)
    assert not [name for name in os.listdir("/proc") if name.isdigit() and str(script) in command(name)]


def command(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text("utf-8", errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_without_a_layer_nothing_is_executed(layer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(OFF_VARIABLE, layer)
    mark = tmp_path / "executed"
    tmp_path.chmod(0o777)
    script = tmp_path / "script.py"
    script.write_text(f"open({str(mark)!r}, 'w')\ndef setup():\n    return iter\n")
    with pytest.raises(UnavailableError, match="is not executed.*--allow-weak-isolation") as raised:
        list(Worker(PYTHON, script).ask({}))
    assert LAYERS[layer] in str(raised.value)
    assert why_not_contained() == str(raised.value)
    assert not mark.exists()


@pytest.mark.parametrize("layer", sorted(LAYERS))
def test_a_user_can_accept_that_a_layer_is_missing(layer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The other layers hold; the isolation says what is missing."""
    monkeypatch.setenv(OFF_VARIABLE, layer)
    assert why_not_contained(weak_isolation=True) is None
    closed = layer == "files" and os.geteuid() == 0  # then the user nobody may not reach our own interpreter
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") if closed else str(PYTHON)
    if python is None:
        pytest.skip("no interpreter that any user can reach")
    worker = Worker(Path(python), HERE / "misbehaving.py", LIMITS, weak_isolation=True)
    assert list(worker.ask({"acts": ["native_write"], "with": str(tmp_path / "new")}, 1)) == [-1]
    assert list(worker.ask({"acts": ["native_connect"], "with": 9}, 1)) == [-1]
    assert f"WEAK, without {layer}: switched off" in str(worker.isolation)
    worker.close()


@pytest.mark.parametrize("said", ['{"pid": "x"}', "[" * 3000, '{"pid": [1]}', "{}", '{"status": 1}'])
def test_a_host_that_lies_is_a_failure_of_its_task(tmp_path: Path, said: str) -> None:
    """A checkout can take the host's place: what it sends is read with a deadline and as data."""
    tmp_path.chmod(0o755)
    script = tmp_path / "lying.py"
    text = "import os, sys\ndef setup():\n    os.write(int(sys.argv[1]), b'{\"ready\": true}')\n"
    script.write_text(f"{text}    os.write(int(sys.argv[1]), {said.encode()!r})\n    os._exit(0)\n")
    worker = Worker(PYTHON, script, LIMITS)
    with pytest.raises(ExecutionError, match="its host broke down"):
        list(worker.ask({}))
    worker.close()
