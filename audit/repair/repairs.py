"""Tries proposals: each change is made in a copy of the benchmark's files, read again and re-checked."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from agenthard.audit.repair.file_edits import (
    FileEdit,
    Patch,
    edit_files,
    own_parts,
    patched_parts,
    read_document,
    translate,
    unified_diff,
)
from agenthard.audit.repair.json_edit import EditError
from agenthard.audit.repair.proposals import Proposal, last_place_first
from agenthard.audit.repair.recheck import Recheck, TaskChecker, TaskState, compare
from agenthard.audit.sources.base import Quarantine, Source
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask

_Waiting = tuple[int, Proposal, tuple[FileEdit, ...]]
"""A proposal with its number among all, and its change of the files."""


class Repair(Record):
    """A proposal and its result."""

    proposal: Proposal
    """The proposal."""
    accepted: bool
    """Whether the changed task is better than the unchanged one."""
    reason: str = ""
    """Why not; empty when it is."""
    edits: tuple[FileEdit, ...] = ()
    """The change as JSON Patches against the benchmark's own files."""
    diff: str = ""
    """The change as a unified diff."""
    recheck: Recheck | None = None
    """Result of the re-check; None when the change could not be made."""


class TaskRepair(Record):
    """The accepted changes of one task, made together."""

    task_id: str
    """Task."""
    finding_ids: tuple[str, ...]
    """Findings that they remove."""
    made_for: tuple[str, ...]
    """Findings whose own proposals are among the changes."""
    edits: tuple[FileEdit, ...]
    """The changes."""
    errors: tuple[str, ...]
    """Checks that ended in an error on the changed task."""


class RepairRunner:
    """Tries proposals in copies of the benchmark."""

    def __init__(
        self, root: Path, open_copy: Callable[[Path], Source], tasks: Sequence[AgentTask], checker: TaskChecker
    ) -> None:
        """Prepare.

        Args:
            root: folder of the benchmark that origins are relative to; it is only read.
            open_copy: opens a copy of that folder as the same source, with the same options.
            tasks: all tasks of the benchmark.
            checker: re-checks tasks.
        """
        self._root = root
        self._open_copy = open_copy
        self._tasks = {task.id: task for task in tasks}
        self._checker = checker
        self._before: dict[str, TaskState] = {}

    def try_all(self, proposals: Sequence[Proposal], advance: Callable[[int], None]) -> list[Repair]:
        """Try every proposal by itself, in the order given.

        Args:
            proposals: the proposals.
            advance: called with the number of proposals tried since the last call.
        """
        found: dict[int, Repair] = {}
        waiting: list[_Waiting] = []
        for number, proposal in enumerate(proposals):
            try:
                edits = self._translated(proposal.task_id, proposal.patch)
                waiting.append((number, proposal, edits))
            except EditError as error:
                found[number] = Repair(proposal=proposal, accepted=False, reason=str(error))
        advance(len(found))
        while waiting:
            batch, waiting = _apart(waiting)
            changed = self._read_changed({proposal.task_id: (proposal.patch, edits) for _, proposal, edits in batch})
            for number, proposal, edits in batch:
                found[number] = self._judge(proposal, edits, changed[proposal.task_id])
                advance(1)
        return [found[number] for number in range(len(proposals))]

    def combine(self, repairs: Sequence[Repair]) -> list[TaskRepair]:
        """Combine the accepted repairs of each task, and re-check them together where there are several.

        If changes overlap, or are not an improvement together, only the first is kept.
        """
        by_task: dict[str, list[Repair]] = {}
        for repair in repairs:
            if repair.accepted:
                by_task.setdefault(repair.proposal.task_id, []).append(repair)
        return [self._together(task_id, accepted) for task_id, accepted in by_task.items()]

    @contextmanager
    def copy_with(self, edits: Sequence[FileEdit]) -> Iterator[Source]:
        """Open a copy of the benchmark with changes in it, for as long as the context lasts."""
        with changed_copy(self._root, self._open_copy, edits) as source:
            yield source

    def content_hash(self, task_id: str) -> str | None:
        """Return the content hash of an unchanged task."""
        return self._tasks[task_id].content_hash

    def _translated(self, task_id: str, patch: Patch) -> tuple[FileEdit, ...]:
        task = self._tasks[task_id]
        patched_parts(task, patch)
        edits = translate(task, patch, lambda file, line: read_document(self._root, file, line))
        edit_files(self._root, edits)
        return tuple(edits)

    def _read_changed(self, changes: dict[str, tuple[Patch, tuple[FileEdit, ...]]]) -> dict[str, AgentTask | str]:
        """Read tasks from changed files; a text says why a task does not match its patch."""
        with self.copy_with([edit for _, edits in changes.values() for edit in edits]) as source:
            read = {task.id: task for task in source.tasks(Quarantine()) if task.id in changes}
        result: dict[str, AgentTask | str] = {}
        for task_id, (patch, _) in changes.items():
            task = read.get(task_id)
            if task is None:
                result[task_id] = "the changed file can no longer be read as this task"
            elif own_parts(task) != patched_parts(self._tasks[task_id], patch):
                result[task_id] = "read again, the changed file does not say what the patch says"
            else:
                result[task_id] = task.model_copy(update={"content_hash": self._tasks[task_id].content_hash})
        return result

    def _judge(self, proposal: Proposal, edits: tuple[FileEdit, ...], task: AgentTask | str) -> Repair:
        diff = unified_diff(self._root, edits)
        if isinstance(task, str):
            return Repair(proposal=proposal, accepted=False, reason=task, edits=edits, diff=diff)
        recheck = compare(self._state_before(proposal.task_id), self._checker.check(task), [proposal.finding_id])
        reason = recheck.reason
        return Repair(proposal=proposal, accepted=not reason, reason=reason, edits=edits, diff=diff, recheck=recheck)

    def _state_before(self, task_id: str) -> TaskState:
        if task_id not in self._before:
            self._before[task_id] = self._checker.check(self._tasks[task_id])
        return self._before[task_id]

    def _together(self, task_id: str, accepted: list[Repair]) -> TaskRepair:
        chosen = _compatible(accepted)
        patches = list({str(repair.proposal.patch): repair.proposal.patch for repair in chosen}.values())
        [recheck, *_] = [repair.recheck for repair in accepted if repair.recheck]
        edits = accepted[0].edits
        made_for = [each.proposal.finding_id for each in chosen if each.proposal.patch == accepted[0].proposal.patch]
        if len(patches) > 1:
            every = [repair.proposal.finding_id for repair in chosen]
            joined = self._try(task_id, last_place_first(patches), every)
            if joined:
                (recheck, edits), made_for = joined, every
        return TaskRepair(
            task_id=task_id, finding_ids=recheck.gone, made_for=tuple(made_for), edits=edits, errors=recheck.errors
        )

    def _try(
        self, task_id: str, patch: Patch, repaired_ids: Sequence[str]
    ) -> tuple[Recheck, tuple[FileEdit, ...]] | None:
        try:
            edits = self._translated(task_id, patch)
        except EditError:
            return None
        task = self._read_changed({task_id: (patch, edits)})[task_id]
        if isinstance(task, str):
            return None
        recheck = compare(self._state_before(task_id), self._checker.check(task), repaired_ids)
        return None if recheck.reason else (recheck, edits)


def _apart(waiting: list[_Waiting]) -> tuple[list[_Waiting], list[_Waiting]]:
    """Select proposals that change different tasks and different records of the files."""
    taken: set[object] = set()
    batch: list[_Waiting] = []
    rest: list[_Waiting] = []
    for item in waiting:
        places: set[object] = {item[1].task_id, *(_record_of(edit) for edit in item[2])}
        (rest if places & taken else batch).append(item)
        if not places & taken:
            taken |= places
    return batch, rest


def _record_of(edit: FileEdit) -> tuple[str, int | str]:
    return edit.file, edit.line if edit.line is not None else split(edit.patch[0]["path"])[0]


def _compatible(accepted: list[Repair]) -> list[Repair]:
    """Choose repairs that change different places, or make the same change."""
    chosen: list[Repair] = []
    for repair in accepted:
        others = [other for other in chosen if other.proposal.patch != repair.proposal.patch]
        if not any(_overlap(repair.proposal.patch, other.proposal.patch) for other in others):
            chosen.append(repair)
    return chosen


def _overlap(one: Patch, two: Patch) -> bool:
    pairs = ((split(a["path"]), split(b["path"])) for a in one for b in two)
    return any(a[: len(b)] == b[: len(a)] for a, b in pairs)


@contextmanager
def changed_copy(root: Path, open_copy: Callable[[Path], Source], edits: Sequence[FileEdit]) -> Iterator[Source]:
    """Open a copy of a benchmark with changes in it, for as long as the context lasts.

    Args:
        root: folder of the benchmark that origins are relative to; it is only read.
        open_copy: opens a copy of that folder as the same source, with the same options.
        edits: the changes.
    """
    with tempfile.TemporaryDirectory(prefix="agenthard-repair-") as folder:
        yield open_copy(mirror(root, Path(folder), edit_files(root, edits)))


def mirror(root: Path, target: Path, changed: Mapping[str, bytes]) -> Path:
    """Make a copy of ``root`` from links, with other bytes in some files.

    The siblings of ``root`` are linked too, because a source may find its benchmark's code there.

    Args:
        root: folder of the benchmark; it is only read.
        target: empty folder to write into.
        changed: new bytes by path relative to ``root``, with forward slashes.

    Returns:
        The copy of ``root``.
    """
    root = root.resolve()
    for sibling in root.parent.iterdir():
        if sibling.name != root.name:
            (target / sibling.name).symlink_to(sibling)
    copied = target / root.name
    _mirror_folder(root, copied, {tuple(path.split("/")): data for path, data in changed.items()})
    return copied


def _mirror_folder(source: Path, target: Path, changed: Mapping[tuple[str, ...], bytes]) -> None:
    target.mkdir()
    for item in source.iterdir():
        below = {path[1:]: data for path, data in changed.items() if path[0] == item.name}
        if () in below:
            (target / item.name).write_bytes(below[()])
        elif below or _is_plain_folder(item):
            _mirror_folder(item, target / item.name, below)
        else:
            (target / item.name).symlink_to(item)


def _is_plain_folder(item: Path) -> bool:
    return item.is_dir() and not item.is_symlink() and not item.name.startswith(".")
