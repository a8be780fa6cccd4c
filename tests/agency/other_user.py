"""Running commands as an ordinary user, on a machine with user namespaces or on one that allows none.

Tests that run as root become a user of their own; their Python is shown to that user where it lies in a closed folder.
Tests of an ordinary user run as this user, and have layers of isolation switched off instead of the namespaces.
"""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
USER = "43210"
NUMBERS = "0 0 100000"
MOST_SECONDS = 550.0
LAYERS_OF_NAMESPACES = "network,files,processes"
SHOWN = """
set -e; closed=$1; needed=$2; user=$3; shift 3
if [ -n "$closed" ]; then
  kept=$(mktemp -d); mount --bind "$needed" "$kept"; mount -t tmpfs -o mode=755 tmpfs "$closed"
  mkdir -p "$needed"; mount --bind "$kept" "$needed"; umount "$kept"; rmdir "$kept"
fi
exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""
NO_NAMESPACES = 'read go; exec sh -c \'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"\' sh "$@"'


def run_as_user(
    command: Sequence[str],
    home: Path,
    *,
    namespaces: bool,
    variables: Mapping[str, str] | None = None,
    seconds: float = MOST_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run a command as an ordinary user.

    Args:
        command: program and arguments.
        home: a folder that becomes the user's own.
        namespaces: whether the machine allows user namespaces.
        variables: further variables.
        seconds: longest time.
    """
    path = f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin"
    environment = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"PREFECT_HOME": str(home / "prefect"), **(variables or {})}
    if os.geteuid() != 0:
        off = {} if namespaces else {"AGENTHARD_ISOLATION_OFF": LAYERS_OF_NAMESPACES}
        return _finished(command, environment | off, seconds)
    for place, _, files in os.walk(home):
        for name in (".", *files):
            os.chown(os.path.join(place, name), int(USER), int(USER), follow_symlinks=False)
    needed = Path(sys.base_prefix)
    shown = ["sh", "-c", SHOWN, "sh", _closed_above(needed), str(needed), USER, *command]
    inside = ["unshare", "--mount", "--propagation", "private", *shown]
    return (_finished if namespaces else _without_namespaces)(inside, environment, seconds)


def _closed_above(path: Path) -> str:
    """Return the uppermost folder above a path that others may not pass; empty where they may pass all."""
    closed = [each for each in reversed(path.parents) if not each.stat().st_mode & stat.S_IXOTH]
    return str(closed[0]) if closed else ""


def _finished(
    command: Sequence[str], environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)


def _without_namespaces(
    command: Sequence[str], environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a command in a user namespace in which the kernel allows no further one."""
    inside = ["unshare", "--user", "sh", "-c", NO_NAMESPACES, "sh", *command]
    with subprocess.Popen(
        inside, cwd=ROOT, env=environment, stdin=-1, stdout=-1, stderr=subprocess.STDOUT, text=True
    ) as child:
        while os.readlink(f"/proc/{child.pid}/ns/user") == os.readlink("/proc/self/ns/user"):
            time.sleep(0.02)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child.pid}/{name}").write_text(NUMBERS)
        said, _ = child.communicate("go\n", timeout=seconds)
    return subprocess.CompletedProcess(inside, child.returncode, said, "")
