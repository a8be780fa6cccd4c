"""The filter on system calls, in the kernel's format. Runs outside our package and must not import it.

Calls that benchmark code has no use for and that could reach another process, a socket, the kernel's configuration
or a second way to do input and output are refused with EPERM. Calls that are newer than ``NEWEST`` are answered with
ENOSYS, which the C library takes for an older kernel: what a later kernel adds is closed until this table names it.
The rest is allowed. A list of allowed calls would be shorter to argue about, but it would have to follow every release
of every C library, interpreter and package, and each gap would be a sound task that breaks.

``execve`` is allowed for one value of its first argument: the address at which the launcher has put the path of the
interpreter. The address is drawn at random and means nothing after that call, which replaces the memory.
"""

import struct
from collections.abc import Iterable, Mapping

NEWEST = 462
"""Number of the newest system call that was reviewed (the same on all machines since 424)."""

_CALLS = {
    "accept": (43, 202),
    "accept4": (288, 242),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bind": (49, 200),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "listen": (50, 201),
    "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_getsetattr": (245, 185),
    "mq_notify": (244, 184),
    "mq_open": (240, 180),
    "mq_timedreceive": (243, 183),
    "mq_timedsend": (242, 182),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, None),
    "userfaultfd": (323, 282),
    "vfork": (58, None),
    "vhangup": (153, 58),
}
"""Refused calls: their numbers on x86-64 and on 64-bit ARM."""

_SPECIAL = {"clone": (56, 220), "clone3": (435, 435), "execve": (59, 221), "ioctl": (16, 29), "tgkill": (234, 131)}
"""Calls that depend on their arguments."""

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machines with a filter: the column above, and what the kernel calls the machine (AUDIT_ARCH)."""

REFUSED = tuple(sorted(_CALLS))
"""Names of the calls that are refused whatever their arguments."""

_OF_JOBS = (
    "accept accept4 bind connect execveat kill listen mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend "
    "mq_unlink msgctl msgget msgrcv msgsnd pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo semctl semget semop "
    "semtimedop shmat shmctl shmdt shmget socket socketpair tkill vfork"
).split()
"""Refused calls that a job needs: it starts processes, signals them, and talks to them inside its own namespaces."""

NAMESPACES = 0x7E020080
"""Flags of clone that make a namespace (CLONE_NEW*)."""
TERMINAL_INPUT = (0x5412, 0x541C)
"""Requests of ioctl that type into a terminal (TIOCSTI, TIOCLINUX)."""
SIGABRT = 6

_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000

_Code = list[tuple[int, int, int, int]]


def program(machine: str, ticket: int) -> bytes:
    """Return the filter for a machine, as an array of ``struct sock_filter``.

    Args:
        machine: ``os.uname().machine``.
        ticket: the one address from which ``execve`` may take the path of the new program.

    Raises:
        KeyError: this machine has no table.
    """
    column, audit = MACHINES[machine]
    call = {name: numbers[column] for name, numbers in _SPECIAL.items()}
    code = _start(column, audit, REFUSED) + _always(call)
    code += _when(call["tgkill"], [_argument(2), (_EQUAL, 1, 0, SIGABRT), _answer(_ERRNO | _EPERM)])
    low, high = ticket & 0xFFFFFFFF, ticket >> 32
    wrong = _answer(_ERRNO | _EPERM)
    code += _when(
        call["execve"], [_argument(0), (_EQUAL, 1, 0, low), wrong, _argument(0, 4), (_EQUAL, 1, 0, high), wrong]
    )
    return _packed(code)


def job_program(machine: str) -> bytes:
    """Return the filter of a job for a machine: as above, with the calls that starting processes needs.

    Args:
        machine: ``os.uname().machine``.

    Raises:
        KeyError: this machine has no table.
    """
    column, audit = MACHINES[machine]
    call = {name: numbers[column] for name, numbers in _SPECIAL.items()}
    return _packed(_start(column, audit, sorted(set(REFUSED) - set(_OF_JOBS))) + _always(call))


def _start(column: int, audit: int, refused: Iterable[str]) -> _Code:
    """Check the machine, and refuse some calls and those that were not reviewed."""
    code: _Code = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, audit),
        _answer(_KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        _answer(_KILL),
        (_ABOVE, 0, 1, NEWEST),
        _answer(_ERRNO | _ENOSYS),
    ]
    found = (_CALLS[name][column] for name in refused)
    for number in sorted(number for number in found if number is not None):
        code += [(_EQUAL, 0, 1, number), _answer(_ERRNO | _EPERM)]
    return code


def _always(call: Mapping[str, int]) -> _Code:
    """Refuse new namespaces and typing into a terminal."""
    code: _Code = [(_EQUAL, 0, 1, call["clone3"]), _answer(_ERRNO | _ENOSYS)]  # the C library then uses clone
    code += _when(call["clone"], [_argument(0), (_ANY_BIT, 0, 1, NAMESPACES), _answer(_ERRNO | _EPERM)])
    typing = [(_EQUAL, 0, 1, request) for request in TERMINAL_INPUT]
    steps = [_argument(1), *(step for one in typing for step in (one, _answer(_ERRNO | _EPERM)))]
    return code + _when(call["ioctl"], steps)


def _packed(code: _Code) -> bytes:
    """Allow what nothing has refused."""
    return b"".join(struct.pack("=HBBI", *step) for step in (*code, _answer(_ALLOW)))


def numbers(machine: str) -> dict[str, int]:
    """Return the numbers of the refused calls on a machine, by name."""
    column = MACHINES[machine][0]
    return {name: number for name, both in _CALLS.items() if (number := both[column]) is not None}


def _answer(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)


def _argument(index: int, offset: int = 0) -> tuple[int, int, int, int]:
    """Load the lower half of an argument; the upper one with offset 4 (both machines are little-endian)."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index + offset)


def _when(number: int, steps: _Code) -> _Code:
    """Take some steps for one call, and allow it when none of them gave an answer."""
    return [(_EQUAL, 0, len(steps) + 1, number), *steps, _answer(_ALLOW)]
