"""What runs a command in the folder of a workspace: a job on this machine, or another backend."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agenthard.agency.workspace.evalspace import outermost
from agenthard.agency.workspace.programs import NONE, Programs
from agenthard.containment import CommandResult, JobLimits, JobResult, run_job


@dataclass(frozen=True)
class Command:
    """A command and all that it runs with."""

    words: Sequence[str]
    """Program and arguments."""
    folder: Path
    """The only folder that it can change for good; it sees it as :data:`agenthard.containment.command.PLACE`."""
    limits: JobLimits
    """What it may use."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables for it."""
    readable: Sequence[Path] = ()
    """Folders of this machine that it must be able to read."""


class CommandRunner(Protocol):
    """Runs commands on folders; nothing that a command starts outlives it."""

    def run(self, command: Command) -> CommandResult:
        """Run a command.

        Raises:
            JobError: it cannot be contained here.
        """
        ...


class LocalJobs:
    """Runs every command as a job on this machine."""

    def __init__(self, *, hidden: Iterable[Path] = (), programs: Programs = NONE, weak_isolation: bool = False) -> None:
        """Prepare.

        Args:
            hidden: folders that no command may look into.
            programs: what every command finds on its search path before the machine's own programs.
            weak_isolation: run commands although this machine lacks a layer of isolation.
        """
        self._hidden = outermost(hidden)
        self._programs, self._weak_isolation = programs, weak_isolation

    def run(self, command: Command) -> JobResult:
        """Run a command as a job.

        Raises:
            JobError: this machine cannot contain it.
        """
        return run_job(
            command.words,
            command.folder,
            command.limits,
            environment={**self._programs.variables(), **command.environment},
            readable=[*self._programs.readable, *command.readable],
            hidden=self._hidden,
            weak_isolation=self._weak_isolation,
        )
