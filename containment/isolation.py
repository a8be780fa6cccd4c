"""The layers of isolation that a machine can put around foreign code, and which of them are in place."""

import os

from pydantic import Field

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
