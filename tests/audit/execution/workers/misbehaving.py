"""A benchmark that does what it is asked to, however bad; run by a worker, never imported by tests."""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

state: list[str] = []


def setup() -> Callable[[Any], Iterator[Any]]:
    return serve


def serve(request: Any) -> Iterator[Any]:
    for act in request["acts"]:
        try:
            yield globals()[f"do_{act}"](request.get("with"))
        except Exception as error:  # as benchmarks do
            yield f"swallowed {type(error).__name__}"


def do_echo(value: Any) -> Any:
    return value


def do_remember(value: str) -> list[str]:
    state.append(value)
    return state


def do_about(_: Any) -> Any:
    return {"environment": sorted(os.environ), "folder": os.getcwd(), "own": os.environ["HOME"], "uid": os.getuid()}


def do_loop(_: Any) -> None:
    while True:
        pass


def do_sleep(_: Any) -> None:
    threading.Event().wait()


def do_fork(_: Any) -> int:
    return os.fork()


def do_native_fork_bomb(_: Any) -> int:
    """Fork without Python's knowledge: the C library was taken before the watch began. Bounded to 64."""
    started = [child for child in (libc.fork() for _ in range(6)) if child >= 0]
    if 0 in started:
        os._exit(0)
    return len(started)


def do_native_kill_parent(_: Any) -> int:
    return int(libc.kill(os.getppid(), 9))


def do_native_write(path: str) -> int:
    return int(libc.open(path.encode(), os.O_WRONLY | os.O_CREAT, 0o644))


def do_native_connect(port: int) -> int:
    handle = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    address = b"\x02\x00" + port.to_bytes(2, "big") + b"\x7f\x00\x00\x01" + bytes(8)
    return int(libc.connect(handle, address, len(address)))


def do_native_unix(path: str) -> list[int]:
    handle = libc.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0)
    address = b"\x01\x00" + path.encode() + b"\0"
    return [int(handle), int(libc.connect(handle, address, len(address)))]


def do_system_calls(numbers: list[int]) -> list[Any]:
    return [(number, outcome(libc.syscall(number, 0, 0, 0, 0, 0, 0))) for number in numbers]


def do_namespace(clone: int) -> str:
    """Fork into a new user namespace."""
    return outcome(libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0))


def outcome(result: int) -> str:
    return os.strerror(error_number()[0]) if result < 0 else f"done: {result}"


def do_start_program(_: Any) -> Any:
    return subprocess.run(["/bin/true"], check=False).returncode


def do_thread(_: Any) -> None:
    threading.Thread(target=print).start()


def do_write(path: str) -> None:
    with open(path, "w") as file:
        file.write("x")


def do_remove(path: str) -> None:
    os.remove(path)


def do_list(path: str) -> list[str]:
    return sorted(os.listdir(path))


def do_fill_disk(size: int) -> None:
    with open("big", "wb") as file:
        for _ in range(size):
            file.write(bytes(1 << 20))


def do_connect(_: Any) -> None:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", 9), timeout=1)


def do_allocate(size: int) -> int:
    try:
        return len(bytearray(size))
    except MemoryError:
        raise SystemExit("no memory") from None


def do_leave(_: Any) -> None:
    os._exit(0)


def do_exit(_: Any) -> None:
    sys.exit(3)


def do_crash(_: Any) -> None:
    libc.abort()


def do_raise(_: Any) -> None:
    raise KeyboardInterrupt


def do_print(_: Any) -> str:
    print('{"value": "forged"}\n' * 10_000)
    os.write(1, b"\xff garbage\n")
    print("noise", file=sys.stderr)
    return "printed"


def do_read_stdin(_: Any) -> str:
    return sys.stdin.read()


def do_recurse(_: Any) -> Any:
    return do_recurse(_)


def do_long_answer(size: int) -> str:
    return "x" * size


libc = ctypes.CDLL(None)
error_number = libc.__errno_location
error_number.restype = ctypes.POINTER(ctypes.c_int)
for name in ("abort", "connect", "fork", "kill", "open", "socket", "syscall"):
    getattr(libc, name)  # looked up now: the watch stops a look-up
