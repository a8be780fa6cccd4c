"""Escape rooms as a source of audits: each room of a suite becomes one task."""

from collections.abc import Collection, Iterator, Sequence, Set
from pathlib import Path
from typing import ClassVar

from agenthard.audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.suite import HEAD, MalformedInstanceError, Unreadable
from agenthard.audit.sources.formats.suite.places import no_runs, set_aside
from agenthard.escape.audit_task import INSTANCE, suite_origins, task_of
from agenthard.escape.proof.structure import structure_problems
from agenthard.escape.proof.verify import execution_problems
from agenthard.escape.room import Instance
from agenthard.escape.storage import SUITES
from agenthard.taxonomy.files import open_regular
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

__all__ = ["INSTANCE", "EscapeRooms"]

_REMEDY = "fix the room, or make it again with `agenthard escape generate`"


class EscapeRooms(Source):
    """Reader of suites of rooms.

    The story is what an agent reads first, the parts in sight are the state, and the recorded solution is the calls of
    the oracle, scored only through the answer that is submitted.
    """

    name: ClassVar[str] = "escape"
    title: ClassVar[str] = "AgentEscapeBench"
    layout: ClassVar[str] = "a suite that `agenthard escape generate` wrote, or a folder with such"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a suite or a folder; ``domains`` are themes such as mystery."""
        super().__init__(root, domains)
        self._suites = find_suites(root)
        if not self._suites:
            raise SourceError(f"{root}: no suite of rooms here; expected {self.layout}, see docs/sources/escape.md")
        self._base = root if root.is_dir() else root.parent

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether there is a suite of rooms here."""
        return bool(find_suites(root))

    def version(self) -> Version:
        """Identify the files by their content."""
        files = [path for suite in self._suites for path in _files(suite) if path.is_file()]
        return hash_files(self._base, files, SUITES.layout.format)

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks, suite by suite; an id that another suite has used is preceded by the suite's folder."""
        return self._tasks(quarantine)

    def some_tasks(self, ids: Collection[str]) -> Iterator[AgentTask]:
        """Stream the tasks with one of the ids."""
        return self._tasks(Quarantine(), frozenset(ids))

    def instances(self, quarantine: Quarantine) -> Iterator[tuple[str, Instance]]:
        """Stream the rooms themselves, each with the id of its task.

        Rooms that do not hold together, or whose tools do not give what is recorded, are set aside: no agent could get
        out, and the agents would be blamed for it.
        """
        for suite, index, id, instance in self._contents(quarantine):
            broken = next(structure_problems(instance), None)
            if broken is None:
                broken = next(((each.part, each.message) for each in execution_problems(instance)), None)
            if broken:
                self._set_aside(quarantine, suite, index, f"{': '.join(filter(None, broken))}; {_REMEDY}", id)
            else:
                yield id, instance

    def known_files(self) -> list[Path]:
        """Return the suites."""
        return self._suites

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Refuse: rooms define no file of runs.

        Raises:
            SourceError: always; it says what can be read instead.
        """
        raise SourceError(no_runs(path, self.title))

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write each suite again with the kept rooms only, every record in the bytes it has."""
        wanted, kept = set(keep), dict[Path, set[int]]()
        for suite, index, id, _ in self._contents(Quarantine()):
            if id in wanted:
                kept.setdefault(suite, set()).add(index)
        return [
            path
            for suite, positions in kept.items()
            for path in SUITES.write_part(suite, out / self._name(suite), positions)
        ]

    def _tasks(self, quarantine: Quarantine, ids: Set[str] | None = None) -> Iterator[AgentTask]:
        for suite, index, id, instance in self._contents(quarantine, ids):
            kind = SUITES.read_head(suite)["kind"]
            public, private = map(self._name, SUITES.parts(suite, kind))
            yield task_of(self.name, id, instance, suite_origins((public, private), index, lines=kind == "jsonl"))

    def _contents(
        self, quarantine: Quarantine, ids: Set[str] | None = None
    ) -> Iterator[tuple[Path, int, str, Instance]]:
        own_ids = None if ids is None else {id for each in ids for id in (each, each.rpartition("/")[2])}
        used: set[str] = set()
        for suite in self._suites:
            own: set[str] = set()
            try:
                for index, each in SUITES.scan_some(suite, own_ids):
                    if isinstance(each, Unreadable):
                        self._set_aside(quarantine, suite, index, f"{each.reason}; {_REMEDY}", each.id, each.part)
                        continue
                    id = each.id if each.id not in used else f"{self._name(suite)}/{each.id}"
                    if each.id in own:
                        self._set_aside(quarantine, suite, index, f"the id {each.id!r} was used already; {_REMEDY}", id)
                    elif (ids is None or id in ids) and (not self.domains or each.room.theme in self.domains):
                        yield suite, index, id, each
                    own.add(each.id)
            except (MalformedInstanceError, OSError) as error:
                quarantine.add(self._name(suite / HEAD), f"cannot read it: {error}")
            used |= own

    def _set_aside(
        self, quarantine: Quarantine, suite: Path, index: int, reason: str, id: str | None, part: str = ""
    ) -> None:
        set_aside(quarantine, SUITES, self._base, suite, index, reason, id, part)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._base).as_posix()


def find_suites(path: Path) -> list[Path]:
    """Find the folders of suites: the path itself, the folder of a file of one, or folders below, sorted."""
    if path.is_file():
        own = path.name == HEAD or path.stem in {part.name for part in SUITES.layout.parts}
        return [path.parent] if own and _is_suite(path.parent) else []
    return sorted({head.parent for head in path.rglob(HEAD) if _is_suite(head.parent)}) if path.is_dir() else []


def _is_suite(folder: Path) -> bool:
    try:
        with open_regular(folder / HEAD) as stream:
            return f'"{SUITES.layout.format}"'.encode() in stream.read(4096)
    except OSError:
        return False


def _files(suite: Path) -> tuple[Path, ...]:
    return (suite / HEAD, *SUITES.parts(suite, "jsonl"), *SUITES.parts(suite, "parquet"))
