"""What a check may do with a workspace: run its programs in jobs, and read its files as data."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar, cast

from agenthard.agency.sandbox import BrowserRecord, Plan, browse
from agenthard.agency.workspace.evalspace import EvalSpace, outermost
from agenthard.containment import JobLimits, JobResult, run_job
from agenthard.taxonomy.errors import AgentHardError

MOST_BYTES = 4 << 20
IMAGES = "images"
"""Folder of the images of plans, in the folder of the eval-space."""
SUITE = Path(__file__).resolve().parents[1] / "suite"
"""Our own scenarios, with their solutions and gold: no program of a workspace may look into them."""

Found = TypeVar("Found")


class ProbeError(AgentHardError):
    """What a check looks for is not there, or is not what it has to be; the criterion earns nothing."""

    code = "AH643"
    remedy = "Look at the workspace of the graded snapshot: the message names the file and what is wrong with it."


class Probe:
    """Looks at one eval-space. Programs of the workspace run in jobs that can look into no gold."""

    def __init__(self, space: EvalSpace, limits: JobLimits | None = None, *, weak_isolation: bool = False) -> None:
        """Prepare; nothing is run yet.

        Args:
            space: copy of the graded snapshot, and gold.
            limits: what each program may use.
            weak_isolation: run programs although this machine lacks a layer of isolation.
        """
        self._space = space
        self._limits = limits or JobLimits(wall_seconds=30)
        self._weak_isolation = weak_isolation
        self.jobs: list[JobResult] = []
        """The programs that were run, in order."""
        self.records: list[BrowserRecord] = []
        """What became of the plans in a browser, in order."""

    @property
    def work(self) -> Path:
        """Folder of the graded files, for what has to reach a program of it while it runs."""
        return self._space.work

    def once(self, look: Callable[["Probe"], Found]) -> Found:
        """Return what a look at the workspace gives; several criteria that need it share one look.

        Args:
            look: the look; a :class:`ProbeError` of it is raised for each of the criteria.
        """
        kept = self._space.looks
        if look not in kept:
            try:
                kept[look] = look(self)
            except ProbeError as error:
                kept[look] = error
        found = kept[look]
        if isinstance(found, ProbeError):
            raise found
        return cast(Found, found)

    def run(self, *command: str, limits: JobLimits | None = None) -> JobResult:
        """Run a program on the workspace.

        Args:
            command: program and arguments.
            limits: what it may use, where that is not what all may use.

        Raises:
            ProbeError: it was killed at a limit.
            JobError: this machine cannot contain it.
        """
        limits = limits or self._limits
        job = run_job(command, self._space.work, limits, hidden=self._hidden(), weak_isolation=self._weak_isolation)
        self.jobs.append(job)
        if job.ending != "exit":
            raise ProbeError(f"`{' '.join(command)[:100]}` was killed: {job.ending}")
        return job

    def browse(self, plan: Plan, files: Mapping[str, str] | None = None) -> BrowserRecord:
        """Carry out a plan in a browser on a copy of the workspace; the images are in the eval-space, next to it.

        Args:
            plan: what is done.
            files: text files that are put into the copy, in place of what has their name.

        Raises:
            BrowserError: no browser is installed, or it did not start.
            JobError: this machine cannot contain it.
        """
        record = browse(
            self._space.work,
            plan,
            self.images(),
            files=files,
            hidden=self._hidden(),
            weak_isolation=self._weak_isolation,
        )
        self.records.append(record)
        return record

    def _hidden(self) -> list[Path]:
        return outermost([*self._space.hidden, self._space.gold, self._space.gold.parent.parent, SUITE])

    def images(self, record: int | None = None) -> Path:
        """Return the folder of the images of a plan, by its number; None: of the next one."""
        return self._space.work.parent / IMAGES / str(len(self.records) if record is None else record)

    def text(self, path: str, most: int = MOST_BYTES) -> str:
        """Return a text file of the workspace.

        Raises:
            ProbeError: it is missing, a link or no regular file, too long, or not UTF-8.
        """
        return read_plain(self._space.work, path, most)

    def gold(self, path: str) -> str:
        """Return a text file of the gold.

        Raises:
            ProbeError: the task has no such gold.
        """
        return read_plain(self._space.gold, path, 1 << 30)


def read_plain(root: Path, path: str, most: int) -> str:
    """Read a text file below a folder without following any link on the way to it.

    Raises:
        ProbeError: it is missing, a link or no regular file, too long, or not UTF-8.
    """
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts:
        raise ProbeError(f"{path!r} is not a path below the workspace")
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
            os.close(handle)
            handle = below
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ProbeError(f"{path!r} is not a file")
        with open(os.dup(handle), "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise ProbeError(f"{path!r} cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)
    if len(content) > most:
        raise ProbeError(f"{path!r} is longer than {most} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ProbeError(f"{path!r} is not UTF-8 text") from None
