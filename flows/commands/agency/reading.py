"""What the commands about one scenario have in common: finding it, and a folder as a graded snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from agenthard.agency.judges import Grade
    from agenthard.agency.scenario import ScenarioTask
    from agenthard.agency.suite_files import StoredScenario
    from agenthard.agency.workspace import Snapshot, SnapshotStore


class Graded(NamedTuple):
    """A folder that was graded."""

    stored: "StoredScenario"
    task: "ScenarioTask"
    grade: "Grade"
    snapshot: "Snapshot"
    store: "SnapshotStore"


def find_task(suite: Path, id: str) -> "tuple[StoredScenario, ScenarioTask]":
    """Find a task of a suite.

    Raises:
        CommandError: no suite, or no such task.
    """
    from agenthard.agency.source import AgencySuite
    from agenthard.audit.sources.base import Quarantine, SourceError
    from agenthard.flows.errors import CommandError

    try:
        found = list(AgencySuite(suite).instances(Quarantine()))
    except SourceError as error:
        raise CommandError(str(error)) from error
    for _, stored in found:
        for task in stored.scenario.tasks:
            if task.id == id:
                return stored, task
    some = ", ".join(task.id for _, stored in found for task in stored.scenario.tasks)
    raise CommandError(f"{suite}: no task {id!r}; there are: {some[:500]}")


@contextmanager
def graded(suite: Path, task_id: str, folder: Path, weak_isolation: bool) -> Iterator[Graded]:
    """Grade a folder as the workspace that a task left, by the rules of its scenario.

    Raises:
        CommandError: no such task or folder, or it cannot be graded here.
    """
    from agenthard.agency.conditions import AgencyConditions
    from agenthard.agency.judges import grade
    from agenthard.agency.packs import packs
    from agenthard.agency.workspace import SnapshotStore, open_eval_space
    from agenthard.agency.workspace.store import SnapshotError
    from agenthard.containment import JobError
    from agenthard.flows.errors import CommandError

    stored, task = find_task(suite, task_id)
    pack = packs().get(stored.scenario.id)
    if pack is None:
        raise CommandError(f"no installed package has the graders of {stored.scenario.id}")
    if not folder.is_dir():
        raise CommandError(f"{folder}: no such folder")
    limits = AgencyConditions().job_limits
    with TemporaryDirectory(prefix="agenthard-agency-") as place:
        store = SnapshotStore(Path(place) / "snapshots")
        try:
            snapshot = store.take(folder)
            hidden = [stored.folder.parent, pack.hidden]
            with open_eval_space(store, snapshot, stored.gold, Path(place) / "eval", hidden) as space:
                found = grade(task, pack.checks, space, limits, weak_isolation=weak_isolation)
        except (SnapshotError, JobError, ValueError) as error:
            raise CommandError(f"{folder} cannot be graded: {error}") from error
        yield Graded(stored, task, found, snapshot, store)
