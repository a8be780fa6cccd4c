"""The source: any benchmark of rows, read as its mapping describes."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.formats.native_files import RUNS, read_native_runs
from agenthard.audit.sources.formats.promptfoo import is_promptfoo, promptfoo_files, unread_prompts
from agenthard.audit.sources.mapping.data import (
    Joined,
    MappedRow,
    data_files,
    read_file,
    shallow,
    value_files,
    with_partners,
)
from agenthard.audit.sources.mapping.mapping import (
    FILE_NAME,
    MappingFile,
    ValuePath,
    data_folder,
    load_mapping,
    nearest,
)
from agenthard.audit.sources.mapping.paths import PathSyntaxError
from agenthard.audit.sources.mapping.runs import read_mapped_runs
from agenthard.audit.sources.mapping.splits import without_query, write_mapped
from agenthard.audit.sources.mapping.tasks import Builder, absent_paths
from agenthard.taxonomy.files import read_bytes, read_text
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

SUFFIXES = (".yaml", ".yml")


class MappingSource(Source):
    """Reader of rows with a mapping file. A domain is a value of ``subtask``."""

    name = "mapping"
    title = "a benchmark read with a mapping file"
    layout = f"a mapping (YAML) that names its files, or a folder with {FILE_NAME}"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a mapping file, or a folder with one.

        Raises:
            SourceError: when there is none, it is wrong, its files are absent, a path of it is in no row, or a domain
                is unknown.
        """
        super().__init__(root, domains)
        self.file = _mapping_file(root)
        self.mapping = load_mapping(self.file)
        self.described_by_user = not self.mapping.verified
        self.maps_runs = self.mapping.runs is not None
        self._folder = data_folder(self.file, self.mapping)
        self._reader = Reader(self.mapping, self.folder)
        self._refuse_absent_paths()
        if domains:
            known = sorted({task.subtask for _, task in self._reader.tasks(Quarantine())})
            unknown = sorted(set(domains) - set(known))
            if unknown:
                raise SourceError(f"{root}: unknown domain: {', '.join(unknown)}; there are: {', '.join(known)}")

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether the path is a YAML file or a folder with a ``mapping.yaml``."""
        return (root / FILE_NAME).is_file() or (root.is_file() and root.suffix in SUFFIXES)

    def version(self) -> Version:
        """Identify the rows, the files that the mapping names, and the mapping itself by their content."""
        found = hash_files(self.folder, self._all_files(), self.mapping.benchmark)
        whole = hashlib.sha256(found.content_hash.encode() + read_bytes(self.file)).hexdigest()[:16]
        return found.model_copy(update={"content_hash": whole, "files": found.files + 1})

    @property
    def folder(self) -> Path:
        """Folder of the data that the mapping names."""
        return self._folder

    def file_path(self, name: str) -> Path:
        """Return where the file of an origin is."""
        return self.folder / name

    def open_copy(self, folder: Path) -> "MappingSource":
        """Open a copy of the folder of the data with this mapping."""
        copied = folder.parent / f"mapping-of-{folder.name}.yaml"
        copied.write_text(_with_folder(read_text(self.file), folder.name), encoding="utf-8")
        return MappingSource(copied, self.domains)

    def known_files(self) -> list[Path]:
        """Return the files that the mapping names, and the mapping itself."""
        return [*self._all_files(), self.file, self.folder / RUNS]

    def _all_files(self) -> list[Path]:
        joined = [path for spec in self.mapping.join for path in data_files(self.folder, spec.files)]
        configured = [
            file for path in self._reader.paths if is_promptfoo(path) for file in chain(*promptfoo_files(path))
        ]
        return list(dict.fromkeys([*self._reader.paths, *configured, *joined, *self._value_files()]))

    def _value_files(self) -> list[Path]:
        named = (place.file for place in self.mapping.places().values() if place.file is not None)
        return [self.folder / name for pattern in named for name in value_files(self.folder, pattern)]

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks in the order of files and rows."""
        for _, task in self._reader.tasks(quarantine):
            if not self.domains or task.subtask in self.domains:
                yield task

    def not_read(self) -> Sequence[NotRead]:
        """Name the tasks of other domains, and the prompts that are not read: tests are audited with the first one."""
        found = list(super().not_read())
        for path in self._reader.paths:
            more = unread_prompts(path) if is_promptfoo(path) else 0
            if more:
                reason = (
                    f"{more} of {more + 1} prompts: tests are read with the first one; move another one up to audit it"
                )
                found.append(NotRead(file=path.name, tasks=0, reason=reason, left_out=True))
        return found

    def _refuse_absent_paths(self) -> None:
        places: dict[str, ValuePath] = self.mapping.places()
        absent = absent_paths(places, self._reader.rows(Quarantine()))
        if absent:
            told = [
                f"{key}: {places[key].path!r} is in no row ({step!r} is absent{nearest(step, names)})"
                for key, (step, names) in absent.items()
            ]
            raise SourceError(f"{self.file}: {'; '.join(told)}. Where that is meant, give the path a default")

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream runs as the mapping's ``runs`` says, otherwise in the native format."""
        if self.mapping.runs is None:
            return read_native_runs(path, quarantine)
        return read_mapped_runs(path, self.mapping, quarantine)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the rows of the tasks in ``keep`` and their joined rows, the mapping and the files it names.

        Rows of files that have lines are byte-identical, and so are elements of arrays; rows of Parquet, Arrow and
        SQLite keep every value. A document that holds rows below a key is rewritten with the kept ones.

        Raises:
            SourceError: when an id is unknown.
        """
        wanted = dict.fromkeys(keep)
        kept = {task.id: row for row, task in self._reader.tasks(Quarantine()) if task.id in wanted}
        if len(kept) < len(wanted):
            missing = [task_id for task_id in wanted if task_id not in kept]
            raise SourceError(f"no such task in {self.root}: {', '.join(missing[:5])}")
        own = list(kept.values())
        written = write_mapped(self.folder, self.mapping, self._reader.paths, own, out)
        for path in self._value_files():
            target = out / path.relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copyfile(path, target)))
        target = out / FILE_NAME
        target.write_text(without_query(_with_folder(read_text(self.file), ".")), encoding="utf-8")
        return [*dict.fromkeys(written), target]


def _with_folder(text: str, folder: str) -> str:
    """Return the text of a mapping whose data is in another folder."""
    others = re.sub(r"^folder:.*\n?", "", text, flags=re.MULTILINE)
    return others if folder == "." else f"{others.rstrip()}\nfolder: {json.dumps(folder)}\n"


def _mapping_file(root: Path) -> Path:
    file = root / FILE_NAME if root.is_dir() else root
    if not file.is_file() or file.suffix not in SUFFIXES:
        raise SourceError(
            f"{root}: no mapping here; give a YAML file, or a folder with {FILE_NAME}. "
            f"`agenthard sources infer {root}` proposes one"
        )
    return file


class Reader:
    """Reads the rows and tasks of one mapping."""

    def __init__(self, mapping: MappingFile, folder: Path) -> None:
        """Find the files, and read those that are joined.

        Raises:
            SourceError: when a file is absent or unreadable.
        """
        self.paths = data_files(folder, mapping.files)
        self._mapping = mapping
        self._folder = folder
        self._joins = [Joined(spec, folder) for spec in mapping.join]
        self._builder = Builder(mapping, folder)

    def rows(self, quarantine: Quarantine) -> Iterator[MappedRow]:
        """Stream the rows with what is joined to them."""
        for joined in self._joins:
            quarantine.items += joined.unreadable.items
        for path in self.paths:
            for row in shallow(read_file(path, self._folder, self._mapping.rows, quarantine, "task"), quarantine):
                try:
                    whole, lacking = with_partners(row, self._joins, self._mapping.json_columns)
                except PathSyntaxError as error:
                    quarantine.add(row.file, str(error), line=row.line, pointer=row.base)
                    continue
                if lacking:
                    reason = f"no row of {', '.join(lacking)} has the key of this one; add it, or set required: false"
                    quarantine.add(row.file, reason, line=row.line, pointer=row.base)
                    continue
                yield whole

    def tasks(self, quarantine: Quarantine) -> Iterator[tuple[MappedRow, AgentTask]]:
        """Stream the tasks with their rows; rows that are not tasks, and ids used before, are quarantined."""
        seen: dict[str, str] = {}
        for row in self.rows(quarantine):
            task = self._task(row, quarantine)
            if task is None:
                continue
            if task.id in seen:
                reason = f"the id {task.id!r} was already used at {seen[task.id]}; map an id that is unique"
                quarantine.add(row.file, reason, line=row.line, pointer=row.base, task_id=task.id)
                continue
            seen[task.id] = f"{row.file}:{row.number}"
            yield row, task

    def _task(self, row: MappedRow, quarantine: Quarantine) -> AgentTask | None:
        try:
            return self._builder.build(row)
        except MalformedRecordError as error:
            place, reason = row.origin(error.pointer), str(error)
        except ValidationError as error:
            place, reason = row.origin(), f"the record is not a valid task: {error.errors()[0]['msg']}; fix it"
        quarantine.add(place.file, reason, line=place.line, pointer=place.pointer)
        return None
