"""ACE-Bench as a source of audits: each instance, in the layout of the paper or in our own format, becomes one task."""

from collections.abc import Collection, Iterator, Sequence, Set
from pathlib import Path
from typing import ClassVar

from agenthard.ace import domains, files, reference_format, reference_stream, storage
from agenthard.ace.audit_task import INSTANCE, reference_origins, suite_origins, task_of
from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.instance import Instance
from agenthard.ace.reference_entry import decode, encode
from agenthard.ace.storage import SUITES
from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.suite.places import no_runs, set_aside
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

__all__ = ["INSTANCE", "AceBench"]


class AceBench(Source):
    """Reader of files in the layout of the paper, plain or packed with gzip, and of suites in our own format.

    The task text is what a solver reads; the grid, the items and each slot's candidates are the state; the recorded
    solution is one ``set_slot`` per hidden slot, scored only through the grid that they leave.
    """

    name: ClassVar[str] = "ace"
    title: ClassVar[str] = "ACE-Bench"
    layout: ClassVar[str] = (
        "a suite that `agenthard ace generate` wrote, a file that the paper's code wrote, or a folder with such"
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a file or a folder; ``domains`` are names such as course."""
        super().__init__(root, domains)
        found = {place: _domains_in(place) for place in files.find(root)}
        self._found = list(found)
        self._base = root if root.is_dir() else root.parent
        known = sorted(set().union(*found.values()))
        if not known:
            raise SourceError(f"{root}: no ACE-Bench file here; expected {self.layout}, see docs/sources/ace.md")
        if unknown := sorted(set(self.domains) - set(known)):
            raise SourceError(f"{root}: no domain {', '.join(unknown)}; there are: {', '.join(known)}")
        wanted = set(self.domains or known)
        self._places = [place for place, names in found.items() if wanted & names]

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether a file here starts as the layout does, or a folder is a suite."""
        return root.exists() and any(map(_domains_in, files.find(root)))

    def version(self) -> Version:
        """Identify the files by their content."""
        suites = [place for place in self._places if place.is_dir()]
        read = [place for place in self._places if not place.is_dir()]
        labels = ["ace-reference-layout"] * bool(read) + ["agenthard-ace"] * bool(suites)
        for suite in suites:
            kinds = (suite / storage.HEAD, *SUITES.parts(suite, "jsonl"), *SUITES.parts(suite, "parquet"))
            read += [path for path in kinds if path.is_file()]
        return hash_files(self._base, read, "+".join(labels))

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks, file by file; an id that another file has used is preceded by the name of its file."""
        return self._tasks(quarantine)

    def some_tasks(self, ids: Collection[str]) -> Iterator[AgentTask]:
        """Stream the tasks with one of the ids."""
        return self._tasks(Quarantine(), frozenset(ids))

    def _tasks(self, quarantine: Quarantine, ids: Set[str] | None = None) -> Iterator[AgentTask]:
        for place, index, id, instance in self._contents(quarantine, ids):
            if place.is_dir():
                kind = SUITES.read_head(place)["kind"]
                public, private = map(self._name, SUITES.parts(place, kind))
                origins = suite_origins((public, private), index, instance.hidden_slots, lines=kind == "jsonl")
            else:
                origins = reference_origins(self._name(place), index)
            yield task_of(self.name, id, instance, origins)

    def known_files(self) -> list[Path]:
        """Return the files and suites of all domains."""
        return self._found

    def not_read(self) -> list[NotRead]:
        """Name the files and suites with tasks of domains that were not chosen, by the numbers they announce."""
        chosen = set(self.domains)
        found = [(place, _left_out(place, chosen)) for place in self._found] if chosen else []
        reason = f"left out by --domain: not of {', '.join(self.domains)}"
        return [NotRead(file=self._name(p), tasks=count, reason=reason, left_out=True) for p, count in found if count]

    def instances(self, quarantine: Quarantine) -> Iterator[tuple[str, Instance]]:
        """Stream the instances themselves, each with the id of its task."""
        for _, _, id, instance in self._contents(quarantine):
            yield id, instance

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Refuse: ACE-Bench defines no file of runs.

        Raises:
            SourceError: always; it says what can be read instead.
        """
        raise SourceError(no_runs(path, self.title))

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write each file and each suite again, unpacked, with the kept instances only; what keeps none is left out."""
        wanted = set(keep)
        kept: dict[Path, set[int]] = {}
        for place, index, id, _ in self._contents(Quarantine()):
            if id in wanted:
                kept.setdefault(place, set()).add(index)
        written = []
        for place, positions in kept.items():
            path = out / self._name(place).removesuffix(".gz")
            if place.is_dir():
                written += SUITES.write_part(place, path, positions)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            header, _ = reference_stream.read_header(place)
            entries = (each for i, each in enumerate(reference_stream.scan(place)) if i in positions)
            instances = (each for each in entries if isinstance(each, Instance))
            reference_format.write(path, header, instances, len(positions))
            written.append(path)
        return written

    def _contents(
        self, quarantine: Quarantine, ids: Set[str] | None = None
    ) -> Iterator[tuple[Path, int, str, Instance]]:
        """Yield each instance with the file or suite it is in, its position there, and the id of its task.

        With ``ids`` only the tasks with one of these ids, and of the others no more is read than needed.
        """
        # The id of an instance is the id of its task, or what comes after the name of the file.
        own_ids = None if ids is None else {id[at:] for id in ids for at in _starts(id)}
        used: set[str] = set()
        for place in self._places:
            name = self._name(place)
            own: set[str] = set()
            try:
                for index, each in files.load_some(place, own_ids):
                    if isinstance(each, Unreadable):
                        self._set_aside(quarantine, place, index, _with_remedy(each.reason), each.id, each.part)
                        continue
                    id = each.id if each.id not in used else f"{name.partition('.json')[0]}/{each.id}"
                    wanted = ids is None or id in ids
                    if wanted and (reason := _refusal(place, each, own)):
                        self._set_aside(quarantine, place, index, reason, id)
                    elif wanted and (not self.domains or each.puzzle.domain in self.domains):
                        yield place, index, id, each
                    own.add(each.id)
            except (MalformedInstanceError, OSError) as error:
                file = self._name(place / storage.HEAD) if place.is_dir() else name
                quarantine.add(file, f"cannot read it: {error}")
            used |= own

    def _set_aside(
        self, quarantine: Quarantine, place: Path, index: int, reason: str, id: str | None, part: str = ""
    ) -> None:
        if not place.is_dir():
            quarantine.add(self._name(place), reason, pointer=f"/instances/{index}", task_id=id)
            return
        set_aside(quarantine, SUITES, self._base, place, index, reason, id, part)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._base).as_posix()


def _starts(id: str) -> Iterator[int]:
    yield 0
    yield from (at + 1 for at, character in enumerate(id) if character == "/")


def _domains_in(place: Path) -> set[str]:
    """Names of the domains that a file or a suite says it holds; a suite that does not say may hold any."""
    if not place.is_dir():
        domain = files.domain_in(place)
        return set() if domain is None else {domain}
    try:
        parameters = SUITES.read_head(place).get("parameters")
    except MalformedInstanceError:
        return set(domains.names())
    named = parameters.get("domains") if isinstance(parameters, dict) else None
    return set(map(str, named)) if isinstance(named, list) and named else set(domains.names())


def _left_out(place: Path, chosen: set[str]) -> int:
    """Count the instances of a file or a suite that are of other domains."""
    try:
        if place.is_dir():
            puzzles = SUITES.scan_public(place)
            return sum(not isinstance(each, Unreadable) and each.domain not in chosen for each in puzzles)
        header, announced = reference_stream.read_header(place)
        return 0 if header.domain in chosen else announced
    except (MalformedInstanceError, OSError):
        return 0


def _refusal(place: Path, instance: Instance, used: set[str]) -> str | None:
    """Why an instance that could be read makes no task."""
    if instance.id in used:
        return f"the id {instance.id!r} was used in this file already; give each instance its own id"
    if instance.puzzle.domain not in domains.names():
        return f"unknown domain {instance.puzzle.domain!r}; there are: {', '.join(domains.names())}"
    if place.is_dir():
        try:
            decode(encode(instance))
        except MalformedInstanceError as error:
            return _with_remedy(str(error))
    return None


def _with_remedy(reason: str) -> str:
    remedy = "fix the instance, or make it again with `agenthard ace generate`"
    return reason if "`agenthard ace generate`" in reason else f"{reason}; {remedy}"
