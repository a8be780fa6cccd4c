"""Which layers contain benchmark code on this machine, and whether it may run where one is missing."""

import os

from pydantic import Field

from agenthard.audit.execution.environment import UnavailableError
from agenthard.taxonomy.record import Record

LAYERS = {
    "user": "an unprivileged user",
    "network": "a network namespace without any network",
    "files": "a mount namespace that is read-only but for one folder of limited size",
    "processes": "a process namespace",
    "landlock": "Landlock, which confines writing to one folder",
    "seccomp": "a filter on system calls",
}
"""All layers, and what each is."""

OPTION = "--allow-weak-isolation"
OFF_VARIABLE = "AGENTHARD_ISOLATION_OFF"
"""Environment variable with the layers that tests switch off, by comma; it never lets code run that would not."""

_allowed = False
_used: set[str] = set()


class WeakIsolationError(UnavailableError):
    """A layer is missing, and that was not allowed."""

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


def refusal(isolation: Isolation) -> str | None:
    """Say why benchmark code is not executed under an isolation; None when it is."""
    if not isolation.missing or _allowed:
        return None
    lacking = "; ".join(f"{LAYERS[name]} ({why})" for name, why in sorted(isolation.missing.items()))
    return (
        f"benchmark code is not executed, because this machine cannot contain it fully. Missing: {lacking}. "
        f"Run as a user with these rights, or accept the risk with {OPTION} (docs/execution-workers.md)"
    )


def allow_weak_isolation(allowed: bool) -> None:
    """Let benchmark code run in this process's workers although layers are missing. Each process has to be told."""
    global _allowed
    _allowed = allowed


def weak_isolation_allowed() -> bool:
    """Tell whether layers may be missing."""
    return _allowed


def switched_off() -> list[str]:
    """Return the layers that a test has switched off."""
    return sorted(name for name in os.environ.get(OFF_VARIABLE, "").split(",") if name in LAYERS)


def note_use(isolation: Isolation) -> None:
    """Remember that benchmark code ran."""
    _used.add(str(isolation))


def isolations_used() -> tuple[str, ...]:
    """Return under which isolations benchmark code ran since this was asked last; empty when none ran."""
    used = tuple(sorted(_used))
    _used.clear()
    return used
