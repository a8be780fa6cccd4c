"""What the two layouts of τ-bench have in common: domains, their tasks in native form, and their environment."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tool_files import Effect
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec

SPLITS = ("dev", "train")
"""Further task lists of a domain, opened only by name: ``retail-dev``, ``retail-train``."""

_WRITES = {
    "airline": ("book_reservation", "cancel_reservation", "send_certificate", "update_reservation_"),
    "retail": ("cancel_pending_order", "exchange_", "modify_", "return_"),
}


@dataclass(frozen=True)
class NativeTask:
    """A task as the benchmark writes it, with its place."""

    index: int
    """0-based position in its list: the benchmark's task id."""
    line: int
    """1-based line where it starts."""
    value: dict[str, Any]
    """Fields: instruction, actions, outputs, user_id ..."""
    place: Callable[[str], Origin]
    """Turns a JSON Pointer inside ``value`` into a place in the files."""
    action_texts: tuple[str, ...] = ()
    """The actions as written, when they are Python."""


@dataclass(frozen=True)
class Domain:
    """The environment that all tasks of a domain share."""

    environment: EnvironmentSpec
    """Tools, policy and database."""
    origins: dict[str, Origin] = field(default_factory=dict)
    """Places of its parts, by JSON Pointer into a task."""


class Layout(ABC):
    """One of the layouts of the benchmark on disk."""

    def __init__(self, root: Path) -> None:
        """Open the folder that names in messages are relative to."""
        self.root = root

    @abstractmethod
    def domains(self) -> list[str]:
        """Name all domains and splits that can be opened; empty when the folder has another layout."""

    @abstractmethod
    def tasks(self, domain: str, quarantine: Quarantine) -> Iterator[NativeTask]:
        """Stream the tasks of a domain; what cannot be read goes to ``quarantine``.

        Raises:
            UnreadableDomainError: when the whole list cannot be read.
        """

    @abstractmethod
    def count(self, domain: str) -> int:
        """Count the elements of a domain's list of tasks, readable or not.

        Raises:
            UnreadableDomainError: when the whole list cannot be read.
        """

    @abstractmethod
    def environment(self, domain: str) -> Domain:
        """Read tools, policy and database.

        Raises:
            UnreadableDomainError: when one of them cannot be read.
        """

    @abstractmethod
    def files(self, domain: str) -> list[Path]:
        """List the files that a domain is read from, the list of tasks first."""

    @abstractmethod
    def write_tasks(self, domain: str, keep: set[int], target: Path) -> None:
        """Write the tasks at the positions in ``keep`` to ``target``, each byte-identical."""

    def name(self, path: Path) -> str:
        """Name a file relative to the root."""
        return path.relative_to(self.root).as_posix()


def split_domain(domain: str) -> tuple[str, str]:
    """Split a name into domain and split; the split is ``test`` unless the name says otherwise.

    >>> split_domain("retail-dev"), split_domain("airline")
    (('retail', 'dev'), ('airline', 'test'))
    """
    name, _, split = domain.rpartition("-")
    return (name, split) if split in SPLITS and name else (domain, "test")


def effect_of(domain: str, tool: str) -> Effect:
    """Tell whether a tool changes the database, from the names of the two public domains."""
    writes = _WRITES.get(split_domain(domain)[0])
    if writes is None:
        return "unknown"
    return "write" if tool.startswith(writes) else "read"
