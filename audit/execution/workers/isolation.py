"""What contains benchmark code: the layers of isolation of this machine, and the limits of a worker process."""

import os

from pydantic import Field

from agenthard.audit.execution.environment import UnavailableError
from agenthard.taxonomy.record import Record

LAYERS = {
    "user": "an unprivileged user",
    "network": "a network namespace without any network",
    "files": "a mount namespace that is read-only except for one folder of limited size",
    "processes": "a process namespace",
    "landlock": "Landlock, which confines writing to one folder",
    "seccomp": "a filter on system calls",
}
"""All layers, and what each is."""

OPTION = "--allow-weak-isolation"
OFF_VARIABLE = "AGENTHARD_ISOLATION_OFF"
"""Environment variable with the layers that tests switch off, by comma; it never lets code run that would not."""


class WeakIsolationError(UnavailableError):
    """A layer is missing, and the user did not allow that."""

    code = "AH309"
    remedy = "Run on Linux with the layer that the message names, or accept the risk with `--allow-weak-isolation`."


class Isolation(Record):
    """What the kernel contributes to the containment of a host and its workers."""

    user: str = "nobody"
    """``nobody`` where AgentHard runs as root, else ``own``: the user who runs it, without any privilege."""
    landlock: int = 0
    """Version of Landlock."""
    missing: dict[str, str] = Field(default_factory=dict)
    """Layers that are not in place, and why."""

    def __str__(self) -> str:
        """Write the layers in one line, as console, manifest and report show it."""
        spaces = [name for name in ("network", "files", "processes") if name not in self.missing]
        parts = ["user root" if "user" in self.missing else f"user {self.user}"]
        parts += [f"namespaces ({', '.join(spaces)})"] if spaces else []
        parts += [] if "landlock" in self.missing else [f"Landlock {self.landlock}"]
        parts += [] if "seccomp" in self.missing else ["seccomp"]
        absent = "; ".join(f"{name}: {why}" for name, why in sorted(self.missing.items()))
        return ", ".join(parts) + (f"; WEAK, without {absent}" if absent else "")


def refusal(isolation: Isolation, *, weak_isolation: bool = False) -> str | None:
    """Return why benchmark code is not executed under an isolation; None when it is.

    Args:
        isolation: the layers in place.
        weak_isolation: whether the user accepted that layers are missing.
    """
    if not isolation.missing or weak_isolation:
        return None
    lacking = "; ".join(f"{LAYERS[name]} ({why})" for name, why in sorted(isolation.missing.items()))
    return (
        f"benchmark code is not executed, because this machine cannot contain it fully. Missing: {lacking}. "
        f"Run as a user with these rights, or accept the risk with {OPTION} (docs/execution-workers.md)"
    )


def switched_off() -> list[str]:
    """Return the layers that a test has switched off."""
    return sorted(name for name in os.environ.get(OFF_VARIABLE, "").split(",") if name in LAYERS)


MIB = 1 << 20


class WorkerLimits(Record):
    """Limits of worker processes: for one answer (the verdict on one attempt), one request, and a whole process."""

    wall_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for one answer."""
    cpu_seconds: int = Field(default=10, gt=0)
    """Most processor time for one answer, in whole seconds."""
    request_seconds: float = Field(default=300.0, gt=0)
    """Longest time for all answers to one request, or to all attempts at one task."""
    process_cpu_seconds: int = Field(default=600, gt=0)
    """Most processor time of one process, which it cannot raise (RLIMIT_CPU)."""
    host_cpu_seconds: int = Field(default=7200, gt=0)
    """Most processor time of the process that imports the benchmark and forks the others."""
    memory_bytes: int = Field(default=1024 * MIB, gt=0)
    """Most address space (RLIMIT_AS), the interpreter included."""
    file_bytes: int = Field(default=16 * MIB, ge=0)
    """Largest file that may be written (RLIMIT_FSIZE)."""
    folder_bytes: int = Field(default=64 * MIB, gt=0)
    """What all files of a process may take together (size of a file system in memory)."""
    folder_entries: int = Field(default=4096, gt=0)
    """How many files and folders a process may make."""
    open_files: int = Field(default=256, gt=0)
    """How many files a process may have open (RLIMIT_NOFILE)."""
    answer_bytes: int = Field(default=16 * MIB, gt=0)
    """Longest answer, as JSON; a longer one is never decoded."""
    request_bytes: int = Field(default=64 * MIB, gt=0)
    """Most bytes of all answers to one request."""
