"""Starts a job inside all layers of isolation. Runs outside our package and must not import it.

Usage: ``python -I -S job_launcher.py ORDER``; ORDER is a JSON object, see :func:`main`.

    launcher   enters the user and process namespaces, waits, kills everything that is left
      child    applies the layers, reports them over CONTROL, waits as the first process of its namespace
        job      becomes the command

When the other end of CONTROL is closed, the job is killed at once.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
kernel: Any = importlib.import_module("kernel")
seccomp: Any = importlib.import_module("seccomp")
launcher: Any = importlib.import_module("launcher")

NOT_STARTED = 127
FIRST_USER = 1_600_000_000


def main() -> None:
    """Run the job that an order describes, and end as its first process ends.

    The order has ``control`` (number of the inherited socket), ``command`` and ``environment``, ``folder`` (what the
    job works on), ``inside`` (where the job finds it), ``temporary`` (where its temporary files are), ``scratch`` (our
    temporary folder, without a mount namespace), ``readable``, ``hidden``, ``limits``, ``off`` (layers that
    tests switch off), ``tcp`` (whether TCP stays open without a network of its own), ``weak`` (whether layers may be
    missing) and ``cgroup`` (the folder of a control group, or null).
    """
    order = json.loads(sys.argv[1])
    layers = launcher.Layers(order["off"])
    if order["cgroup"]:
        with open(os.path.join(order["cgroup"], "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))
    if os.geteuid() == 0:
        kernel.UNPRIVILEGED_ID = own_number()
    else:
        for name in ("processes", "network", "files"):
            layers.take(name, lambda: None)
        try:
            if len(layers.missing) < 3:
                kernel.enter_user_namespace()
        except OSError as error:
            for name in ("processes", "network", "files"):
                layers.missing.setdefault(name, f"user namespace: {error.strerror}")
    kernel.adopt_orphans()
    layers.take("processes", lambda: kernel.unshare(kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC))
    child = os.fork()
    if child == 0:
        try:
            enter(order, layers)
        except OSError as error:
            print(f"{order['command'][0]}: {error.strerror}", file=sys.stderr, flush=True)
        finally:
            os._exit(NOT_STARTED)
    sys.exit(wait(child, order["control"]))


def own_number() -> int:
    """Return the number of a user that no other job has, since the kernel counts the processes of a user.

    Where the machine's namespace knows no such number, all jobs are the same unprivileged user and share its limit.
    """
    number = FIRST_USER + os.getpid()
    with open("/proc/self/uid_map") as users, open("/proc/self/gid_map") as groups:
        for ranges in (users, groups):
            if not any(int(first) <= number < int(first) + int(count) for first, _, count in map(str.split, ranges)):
                return int(kernel.UNPRIVILEGED_ID)
    return number


def enter(order: dict[str, Any], layers: Any) -> None:
    """Take on the layers, and become the command."""
    os.setsid()
    version, limits, machine = kernel.landlock_version(), order["limits"], os.uname().machine
    place, temporary = order["inside"], order["temporary"]
    layers.take("network", lambda: (kernel.unshare(kernel.CLONE_NEWNET), kernel.start_loopback()))
    size = limits["temporary_bytes"], limits["temporary_entries"]
    places = (temporary, place)
    own = layers.take(
        "files", lambda: kernel.own_job_files(order["folder"], order["readable"], order["hidden"], places, *size)
    )
    if not own:
        place, temporary = order["folder"], order["scratch"]
    elif "processes" not in layers.missing:
        kernel.own_processes()
    as_root = os.geteuid() == 0
    if as_root:
        if not own:
            _give_away(place)
            _give_away(temporary)
        layers.take("user", kernel.leave_root)
    else:
        layers.take("user", lambda: None)
    kernel.set_limits(limits["memory_bytes"], limits["file_bytes"], limits["open_files"], limits["cpu_seconds"])
    kernel.limit_processes(limits["processes"] + 1)
    kernel.end_with_parent()
    kernel.keep_privileges_low()
    writable = [place, temporary, *([kernel.SHARED_MEMORY] if own and os.path.isdir(kernel.SHARED_MEMORY) else [])]
    tcp = order["tcp"] or "network" not in layers.missing
    layers.take("landlock", lambda: kernel.confine_writing(writable, version or launcher.absent("Landlock"), tcp=tcp))
    layers.take("seccomp", lambda: kernel.filter_calls(seccomp.job_program(machine)))
    control = socket.socket(fileno=order["control"])
    report = {"user": "nobody" if as_root else "own", "landlock": version, "missing": layers.missing}
    control.sendall(json.dumps({"isolation": report}).encode())
    if layers.missing and not order["weak"]:
        os._exit(NOT_STARTED)
    control.close()
    os.chdir(place)
    for stream in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a program inherits that
        signal.signal(stream, signal.SIG_DFL)
    if "processes" not in layers.missing:
        _stay_first()
    environment = {**order["environment"], "HOME": temporary, "TMPDIR": temporary, "PWD": place}
    os.execvpe(order["command"][0], order["command"], environment)


def _stay_first() -> None:
    """Fork, and return in the child only: the kernel spares the first process of a namespace most signals."""
    child = os.fork()
    if child == 0:
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    while True:
        found, status = os.waitpid(-1, 0)
        if found == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _give_away(folder: str) -> None:
    """Let the unprivileged user own a folder, where no mount can make it look so."""
    for place, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(os.path.join(place, name), kernel.UNPRIVILEGED_ID, kernel.UNPRIVILEGED_ID, follow_symlinks=False)


def wait(child: int, control: int) -> int:
    """Wait for the job, or kill it when the control socket is closed; kill what it left, and return how it ended."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(control, 0)
    poll.poll()
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(ended, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ChildProcessError):
        while True:
            for orphan in launcher.children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(orphan, signal.SIGKILL)
            os.waitpid(-1, 0)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    main()
