"""Takes from a process what benchmark code does not need; run by the benchmark's interpreter, so it imports nothing.

The kernel does the containing where it can: resource limits, an empty network namespace, an unprivileged user, and
Landlock, which confines writing to one folder. A kernel or a user without one of these is told by the answers of the
functions here, and then only the watch on the interpreter (``watch.py``) stands in its place.
"""

import ctypes
import os
import resource
import struct

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
SIGKILL = 9
NOBODY = 65534

LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH = 1
WRITE_FILE, TRUNCATE = 1 << 1, 1 << 14
CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
"""Removing and making entries of every kind."""
MOVE_BETWEEN_FOLDERS = 1 << 13
TCP_BIND_AND_CONNECT = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_libc = ctypes.CDLL(None, use_errno=True)


def leave_network() -> bool:
    """Move into a network namespace without any interface but a dead loopback; False when the kernel refuses."""
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    try:
        return bool(_libc.unshare(flags) == 0)
    except AttributeError:
        return False


def landlock_version() -> int:
    """Return the version of Landlock that the kernel offers; 0 for none."""
    return max(0, int(_libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1)))


def set_limits(memory_bytes: int, file_bytes: int) -> None:
    """Limit memory and files, and forbid core dumps, for good."""
    limits = {resource.RLIMIT_AS: memory_bytes, resource.RLIMIT_FSIZE: file_bytes, resource.RLIMIT_CORE: 0}
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))


def renew_processor_time(seconds: int) -> None:
    """Let this process use ``seconds`` of processor time from now on; then the kernel ends it by SIGXCPU."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, hard))


def drop_privileges() -> bool:
    """Become an unprivileged user where the process is root, and forbid new processes; tells whether it was root.

    RLIMIT_NPROC does not bind root, so the order matters.
    """
    was_root = os.geteuid() == 0
    if was_root:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    _libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    return was_root


def confine_writing(folder: str, version: int) -> None:
    """Forbid, for good, to change files outside ``folder``, to use TCP and to signal processes outside, by Landlock.

    Args:
        folder: the one folder that stays writable.
        version: what :func:`landlock_version` said; 0 does nothing.

    Raises:
        OSError: when the kernel refuses although it offers that version.
    """
    if version == 0:
        return
    files = WRITE_FILE | CHANGE_FOLDERS
    files |= MOVE_BETWEEN_FOLDERS if version >= 2 else 0
    files |= TRUNCATE if version >= 3 else 0
    fields = [files]
    fields += [TCP_BIND_AND_CONNECT] if version >= 4 else []
    fields += [ABSTRACT_SOCKETS_AND_SIGNALS] if version >= 6 else []
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _checked(_libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0))
    _allow(ruleset, folder, files)
    _allow(ruleset, os.devnull, files & (WRITE_FILE | TRUNCATE))
    _checked(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(_libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", access, place)
    _checked(_libc.syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0))
    os.close(place)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
