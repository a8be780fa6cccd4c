"""Starts a host inside all layers of isolation. Runs outside our package and must not import it.

Usage: ``python -I -S launcher.py ORDER``; ORDER is a JSON object, see :func:`main`. The benchmark's interpreter, which
may be a file of a checkout, starts inside the layers, so it is contained from its first instruction. It is a new
program: the functions that this one uses to configure the kernel are not in its memory.

    launcher   enters the user and process namespaces, waits, cleans up
      child    applies the layers, reports them over CONTROL, becomes the host

If a layer is missing and that is not allowed, it only reports.
"""

import contextlib
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

GRACE_MS = 3000
"""Milliseconds that a host has to end by itself after the connection is closed."""

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
kernel: Any = importlib.import_module("kernel")
seccomp: Any = importlib.import_module("seccomp")


class Layers:
    """Which layers are in place, and why the others are not."""

    def __init__(self, off: list[str]) -> None:
        self.missing: dict[str, str] = {}
        self._off = off

    def take(self, name: str, work: Callable[[], Any]) -> bool:
        """Apply a layer or a part of one; return whether the layer is in place."""
        if name in self._off:
            self.missing[name] = "switched off"
        elif name not in self.missing:
            try:
                work()
            except (OSError, KeyError, AttributeError) as error:
                self.missing[name] = getattr(error, "strerror", None) or str(error)
        return name not in self.missing


def main() -> None:
    """Start the host that an order describes.

    The order has ``control`` (number of the inherited socket), ``command`` and ``environment`` (the host's), ``folder``
    (to be removed at the end), ``home`` (the folder in it that stays writable), ``needed`` (folders that the host has
    to reach), ``limits``, ``off`` (layers that tests switch off), ``weak`` (whether layers may be missing) and
    ``probe`` (whether the report is all that is wanted).
    """
    order = json.loads(sys.argv[1])
    layers = Layers(order["off"])
    os.chmod(order["folder"], 0o711)
    if os.geteuid() != 0:
        for name in ("processes", "network", "files"):
            layers.take(name, lambda: None)
        try:
            if len(layers.missing) < 3:
                kernel.enter_user_namespace()
        except OSError as error:
            for name in ("processes", "network", "files"):
                layers.missing.setdefault(name, f"user namespace: {error.strerror}")
    kernel.adopt_orphans()
    flags = kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC
    layers.take("processes", lambda: kernel.unshare(flags))
    child = os.fork()
    if child == 0:
        try:
            enter(order, layers)
        except OSError as error:
            print(f"{order['command'][0]}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    try:
        wait(child, order["control"])
    finally:
        shutil.rmtree(order["folder"], ignore_errors=True)


def enter(order: dict[str, Any], layers: Layers) -> None:
    """Take on the layers, and become the host."""
    version = kernel.landlock_version()
    home, limits, machine = order["home"], order["limits"], os.uname().machine
    needed, size = [*order["needed"], home], (limits["folder_bytes"], limits["folder_entries"])
    layers.take("network", lambda: kernel.unshare(kernel.CLONE_NEWNET))
    if layers.take("files", lambda: kernel.own_files(needed, home, *size)) and "processes" not in layers.missing:
        kernel.own_processes()
    as_root = os.geteuid() == 0
    if as_root:
        os.chown(home, kernel.UNPRIVILEGED_ID, kernel.UNPRIVILEGED_ID)
        layers.take("user", kernel.leave_root)
    else:
        layers.take("user", lambda: None)
    kernel.set_limits(limits["memory_bytes"], limits["file_bytes"], limits["open_files"], limits["host_cpu_seconds"])
    kernel.limit_processes()
    kernel.end_with_parent()
    kernel.keep_privileges_low()
    layers.take("landlock", lambda: kernel.confine_writing([home], version if version else absent("Landlock")))
    ticket = kernel.ticket(order["command"][0])
    filtered = layers.take("seccomp", lambda: kernel.filter_calls(seccomp.program(machine, ticket)))
    control = socket.socket(fileno=order["control"])
    report = {"user": "nobody" if as_root else "own", "landlock": version, "missing": layers.missing}
    control.sendall(json.dumps({"isolation": report}).encode())
    if order["probe"] or (layers.missing and not order["weak"]):
        os._exit(0)
    os.set_inheritable(control.detach(), True)
    if filtered:
        kernel.execute(ticket, order["command"], order["environment"])
    os.execve(order["command"][0], order["command"], order["environment"])


def absent(what: str) -> Any:
    """Say that the kernel lacks something."""
    raise OSError(0, f"this kernel has no {what}")


def wait(child: int, control: int) -> None:
    """Wait for the host, and end it when the other end of the control socket is closed; then end what it left."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(control, 0)
    if ended not in dict(poll.poll()):
        poll.unregister(control)
        poll.poll(GRACE_MS)
    signal.pidfd_send_signal(ended, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            for orphan in children():
                os.kill(orphan, signal.SIGKILL)
            os.waitpid(-1, 0)


def children() -> list[int]:
    """Return the numbers of the children of this process, orphans that it adopted included."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(number) for number in file.read().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main()
