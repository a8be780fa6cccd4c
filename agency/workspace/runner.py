"""What runs a command in the folder of a workspace: a job on this machine, or another backend."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from agenthard.agency.workspace.evalspace import outermost
from agenthard.agency.workspace.programs import NONE, Programs
from agenthard.containment import CommandResult, JobLimits, JobResult, run_job


class CommandRunner(Protocol):
    """Runs commands on folders; nothing that a command starts outlives it."""

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        limits: JobLimits,
        environment: Mapping[str, str],
        readable: Sequence[Path],
    ) -> CommandResult:
        """Run a command on a folder, which it sees as :data:`agenthard.containment.command.PLACE`.

        Args:
            command: program and arguments.
            folder: the only folder that it can change for good.
            limits: what it may use.
            environment: variables for it.
            readable: folders of this machine that it must be able to read.

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

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        limits: JobLimits,
        environment: Mapping[str, str],
        readable: Sequence[Path],
    ) -> JobResult:
        """Run a command on a folder as a job.

        Raises:
            JobError: this machine cannot contain it.
        """
        return run_job(
            command,
            folder,
            limits,
            environment={**self._programs.variables(), **environment},
            readable=[*self._programs.readable, *readable],
            hidden=self._hidden,
            weak_isolation=self._weak_isolation,
        )
