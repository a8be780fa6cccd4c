"""Connecting a program in a job with a real server outside of it: no program can change the store but by calls."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agenthard.agency.judges import Probe, ProbeError
from agenthard.agency.suite.kit import LIMITS
from agenthard.agency.suite.mcp.model import Document
from agenthard.taxonomy.record import Record

SERVER = Path(__file__).resolve().parent / "server.py"
SOCKET = ".desk.socket"
END_SECONDS = 60
"""How long the server may take for what the program has sent, after the program's end."""
BRIDGE = """
import os, socket, sys, threading
line = socket.socket(socket.AF_UNIX)
place = "/tmp/workspace/" + sys.argv[1]  # without a mount namespace the folder is where it is
line.connect(place if os.path.exists(place) else sys.argv[1])
def send():
    while data := sys.stdin.buffer.read1(65536):
        line.sendall(data)
    line.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while data := line.recv(65536):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
"""
"""What the program starts as its server: it passes on what each side writes."""


class Visit(Record):
    """What one run of a program did."""

    report: object
    """What it printed, as JSON."""
    items: dict[str, Any]
    """The items afterwards."""
    calls: list[dict[str, Any]]
    """All calls of tools, in order."""


def visit(probe: Probe, program: str, store: Document) -> Visit:
    """Run a program of the workspace, with a server of a store.

    Raises:
        ProbeError: the program failed, printed no JSON, or never reached the server.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "store.json"), Path(folder, "after.json")
        before.write_text(json.dumps(store), encoding="utf-8")
        with _served(probe.work, [sys.executable, "-P", str(SERVER), str(before), str(after)]):
            done = probe.run("python3", program, "python3", "-c", BRIDGE, SOCKET, limits=LIMITS)
        if done.exit_code != 0:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise ProbeError(f"{program} ended with exit code {done.exit_code}: {''.join(said[-1:])[:300]}")
        if not after.exists():
            raise ProbeError(f"{program} did not reach the server")
        left = json.loads(after.read_text(encoding="utf-8"))
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = None
    return Visit(report=report, items=left["items"], calls=left["calls"])


@contextmanager
def _served(work: Path, command: list[str]) -> Iterator[None]:
    """Listen in a folder; the first connection gets a server of its own."""
    handle = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
    door = socket.socket(socket.AF_UNIX)
    place = f"/proc/self/fd/{handle}/{SOCKET}"  # a path of any length would not fit into the address
    threads: list[threading.Thread] = []
    try:
        with suppress(FileNotFoundError):
            os.unlink(place)
        door.bind(place)
        os.chmod(place, 0o666)
        door.listen(1)
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as server:
            try:
                threads.append(threading.Thread(target=_pass_on, args=(door, server, threads), daemon=True))
                threads[0].start()
                yield
                door.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection
                for thread in threads:
                    thread.join(timeout=END_SECONDS)
                server.wait(timeout=END_SECONDS)
            except subprocess.TimeoutExpired:
                raise ProbeError(f"the server had not answered all {END_SECONDS} s after the program's end") from None
            finally:
                server.kill()
    finally:
        door.close()
        with suppress(FileNotFoundError):
            os.unlink(place)
        os.close(handle)


def _pass_on(door: socket.socket, server: "subprocess.Popen[bytes]", threads: list[threading.Thread]) -> None:
    """Carry bytes between the first connection and the server until one of them ends."""
    assert server.stdin is not None and server.stdout is not None
    with suppress(OSError, ValueError):
        line, _ = door.accept()
        with line:
            back = threading.Thread(target=_carry_back, args=(line, server), daemon=True)
            threads.append(back)
            back.start()
            with suppress(OSError):
                while data := line.recv(1 << 16):
                    server.stdin.write(data)
                    server.stdin.flush()
            server.stdin.close()
            back.join(timeout=END_SECONDS)
    with suppress(OSError, ValueError):
        server.stdin.close()


def _carry_back(line: socket.socket, server: "subprocess.Popen[bytes]") -> None:
    assert server.stdout is not None
    with suppress(OSError, ValueError):
        while data := os.read(server.stdout.fileno(), 1 << 16):
            line.sendall(data)
        line.shutdown(socket.SHUT_WR)
