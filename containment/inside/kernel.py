"""The layers of isolation that the launcher applies before benchmark code runs.

Runs outside our package and must not import it, except the filter on system calls next to it. Each function is one
layer or a part of one, and raises ``OSError`` where the kernel or the user's rights do not allow it.
"""

import ctypes
import fcntl
import os
import resource
import secrets
import signal
import socket
import struct
from collections.abc import Sequence
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH, MOUNT_ATTR_IDMAP = 1, 4, 1 << 20
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
SECCOMP_MODE_FILTER = 2
UNPRIVILEGED_ID = 65534
SHARED_MEMORY = "/dev/shm"
SIOCSIFFLAGS, IFF_UP_AND_RUNNING = 0x8914, 0x41

LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH = 1
WRITE_FILE, TRUNCATE = 1 << 1, 1 << 14
CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
"""Removing and making entries of every kind."""
MOVE_BETWEEN_FOLDERS = 1 << 13
TCP_BIND_AND_CONNECT = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

EXECVE = {"x86_64": 59, "aarch64": 221}
PROT_READ_WRITE, MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE = 3, 2, 0x20, 0x100000
PAGE = 4096
SPARE_PROCESSES = 256
"""Processes and threads that a host may start in addition to the user's existing ones while a benchmark is imported."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p


def enter_user_namespace() -> None:
    """Become the owner of namespaces without being root; the user's number stays."""
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def unshare(flags: int) -> None:
    """Enter new namespaces."""
    _checked(_libc.unshare(flags))


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _checked(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def end_with_parent() -> None:
    """Be killed as soon as the parent ends. A change of the user undoes it, a new program does not."""
    _checked(_libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0))


def own_files(needed: list[str], home: str, most_bytes: int, most_entries: int) -> None:
    """Enter a mount namespace in which everything is read-only but one folder of limited size.

    Args:
        needed: folders that an unprivileged user has to reach; root only. Those behind a folder that is closed to
            others are shown at their place, and nothing else of that folder is.
        home: the writable folder.
        most_bytes: what all files in it may take together.
        most_entries: how many files and folders it may have.
    """
    unshare(CLONE_NEWNS)
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    if os.geteuid() == 0:
        _show(needed)
    _checked(_set_attributes(AT_FDCWD, "/", AT_RECURSIVE, MS_RDONLY))
    options = f"size={most_bytes},nr_inodes={most_entries},mode=0711"
    _mount("tmpfs", home, "tmpfs", MS_NOSUID | MS_NODEV, options)


def own_job_files(
    folder: str, readable: list[str], hidden: list[str], places: tuple[str, str], most_bytes: int, most_entries: int
) -> None:
    """Enter a mount namespace in which everything is read-only but a folder of ours and a temporary one.

    Args:
        folder: the folder that the job works on; what it writes belongs to us.
        readable: folders that an unprivileged user has to reach; root only.
        hidden: folders that nothing in the namespace can look into.
        places: where the temporary folder is shown, and below it the folder of the job.
        most_bytes: what all temporary files may take together.
        most_entries: how many temporary files and folders there may be.
    """
    unshare(CLONE_NEWNS)
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    flags = ctypes.c_long(OPEN_TREE_CLONE | os.O_CLOEXEC | AT_RECURSIVE)
    tree = _checked(_libc.syscall(OPEN_TREE, AT_FDCWD, os.fsencode(folder), flags))
    if os.geteuid() == 0:
        owner = _root_as_nobody()
        _checked(_set_attributes(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_IDMAP, owner))
        os.close(owner)
        _show(readable)
    for path in hidden:
        _mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,nr_inodes=2,mode=0")
    _checked(_set_attributes(AT_FDCWD, "/", AT_RECURSIVE, MS_RDONLY))
    temporary, place = places
    limits = f"size={most_bytes},nr_inodes={most_entries},mode=01777"
    _mount("tmpfs", temporary, "tmpfs", MS_NOSUID | MS_NODEV, limits)
    if os.path.isdir(SHARED_MEMORY):
        _mount("tmpfs", SHARED_MEMORY, "tmpfs", MS_NOSUID | MS_NODEV, limits)
    os.mkdir(place)
    flags = ctypes.c_long(MOVE_MOUNT_F_EMPTY_PATH)
    _checked(_libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(place), flags))
    os.close(tree)


def start_loopback() -> None:
    """Let the processes of a network namespace reach each other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = bytearray(struct.pack("16sh22x", b"lo", IFF_UP_AND_RUNNING))
        fcntl.ioctl(handle, SIOCSIFFLAGS, request)


def own_processes() -> None:
    """Show only the processes of the own namespace under /proc, where the kernel lets us."""
    _libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)


def _show(needed: list[str]) -> None:
    """Show folders at their place although others may not pass the folders above, or not read them.

    What belongs to root seems to belong to the unprivileged user then; it is read-only all the same.
    """
    closed = {path: folder for path in needed if (folder := _closed_above(path))}
    owner = _root_as_nobody() if closed else -1
    trees = {path: _copy(path, owner) for path in closed}
    for folder in sorted(set(closed.values()) - closed.keys()):
        _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
    for path, tree in trees.items():
        os.makedirs(path, exist_ok=True)
        flags = ctypes.c_long(MOVE_MOUNT_F_EMPTY_PATH)
        _checked(_libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(path), flags))
        os.close(tree)
    if closed:
        os.close(owner)


def _copy(path: str, owner: int) -> int:
    """Copy the mounts at a folder; its files change their owner in the copy, where the file system can do that."""
    flags = ctypes.c_long(OPEN_TREE_CLONE | os.O_CLOEXEC | AT_RECURSIVE)
    tree = _checked(_libc.syscall(OPEN_TREE, AT_FDCWD, os.fsencode(path), flags))
    _set_attributes(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, MOUNT_ATTR_IDMAP, owner)
    return tree


def _root_as_nobody() -> int:
    """Return a handle of a user namespace in which root's files belong to the unprivileged user."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        done = _libc.unshare(CLONE_NEWUSER)
        os.write(writing, b"y" if done == 0 else b"n")
        signal.pause()
    try:
        if os.read(reading, 1) != b"y":
            raise PermissionError(1, "no user namespace")
        folder = f"/proc/{_number(child)}"
        for name in ("uid_map", "gid_map"):
            with open(f"{folder}/{name}", "w") as file:
                file.write(f"0 {UNPRIVILEGED_ID} 1")
        return os.open(f"{folder}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def _number(child: int) -> int:
    """Return the number that a child has under /proc, which may show another namespace of processes than ours."""
    handle = os.pidfd_open(child)
    try:
        with open(f"/proc/self/fdinfo/{handle}") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
    finally:
        os.close(handle)


def _closed_above(path: str) -> str | None:
    """Return the first folder on the way to a path, itself included, that is closed to others."""
    way = path
    above = [way]
    while way != "/":
        way = os.path.dirname(way)
        above.append(way)
    wanted = {folder: 0o5 if folder == path else 0o1 for folder in above}
    return next((each for each in reversed(above) if os.stat(each).st_mode & wanted[each] != wanted[each]), None)


def set_limits(memory_bytes: int, file_bytes: int, open_files: int, cpu_seconds: int) -> None:
    """Limit memory, files and processor time, and forbid core dumps, for good."""
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: open_files,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def leave_root() -> None:
    """Become an unprivileged user."""
    os.setgroups([])
    os.setresgid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
    os.setresuid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)


def limit_processes(spare: int = SPARE_PROCESSES) -> None:
    """Bound how many processes and threads the user can have in addition to those there are; root is not bound."""
    user, count = os.getuid(), spare
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


def keep_privileges_low() -> None:
    """Let no later program have more rights than this process; Landlock and the filter ask for it."""
    _checked(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def landlock_version() -> int:
    """Return the version of Landlock that the kernel offers; 0 for none."""
    return max(0, int(_libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1)))


def confine_writing(folders: Sequence[str], version: int, *, tcp: bool = False) -> None:
    """Forbid to change files outside some folders, to use TCP and to signal processes outside, by Landlock.

    Args:
        folders: the folders that stay writable.
        version: what :func:`landlock_version` said.
        tcp: whether TCP may be used, which the network namespace confines.
    """
    files = WRITE_FILE | CHANGE_FOLDERS
    files |= MOVE_BETWEEN_FOLDERS if version >= 2 else 0
    files |= TRUNCATE if version >= 3 else 0
    fields = [files]
    fields += [0 if tcp else TCP_BIND_AND_CONNECT] if version >= 4 else []
    fields += [ABSTRACT_SOCKETS_AND_SIGNALS] if version >= 6 else []
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _checked(_libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0))
    for folder in folders:
        _allow(ruleset, folder, files)
    _allow(ruleset, os.devnull, files & (WRITE_FILE | TRUNCATE))
    _checked(_libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def filter_calls(program: bytes) -> None:
    """Load a filter on system calls."""

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    code = ctypes.create_string_buffer(program, len(program))
    loaded = Filter(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    _checked(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0))


def ticket(path: str) -> int:
    """Put a path at an address that cannot be guessed, and return it."""
    text = os.fsencode(path) + b"\0"
    size = len(text) + PAGE
    for bits in (46, 38):  # machines differ in how much address space a process has
        start = secrets.randbelow((1 << bits) - (1 << 32)) + (1 << 32) & -PAGE
        flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
        place = _libc.mmap(ctypes.c_void_p(start), ctypes.c_size_t(size), PROT_READ_WRITE, flags, -1, ctypes.c_long(0))
        if place == start:
            address = start + secrets.randbelow(PAGE)
            ctypes.memmove(address, text, len(text))
            return address
    raise OSError("the path of the interpreter found no place in memory")


def execute(address: int, command: list[str], environment: dict[str, str]) -> None:
    """Replace this process by a program whose path is at an address."""
    arguments = _texts(command)
    variables = _texts([f"{name}={value}" for name, value in environment.items()])
    number = EXECVE[os.uname().machine]
    _checked(_libc.syscall(ctypes.c_long(number), ctypes.c_void_p(address), arguments, variables))


def _texts(texts: list[str]) -> Any:
    return (ctypes.c_char_p * (len(texts) + 1))(*map(os.fsencode, texts), None)


def _set_attributes(place: int, path: str, flags: int, attributes: int, owner: int = 0) -> int:
    changes = struct.pack("=4Q", attributes, 0, 0, owner)
    arguments = (place, os.fsencode(path), flags, changes, ctypes.c_size_t(len(changes)))
    return int(_libc.syscall(MOUNT_SETATTR, *arguments))


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = (os.fsencode(source), os.fsencode(target), kind.encode())
    _checked(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None))


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
