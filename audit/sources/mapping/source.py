"""The source: any benchmark of rows, read as its mapping says."""

import hashlib
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from agenthard.audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.row_splits import write_rows
from agenthard.audit.sources.mapping.data import data_files
from agenthard.audit.sources.mapping.loading import FILE_NAME, load_mapping
from agenthard.audit.sources.mapping.mapping import Place
from agenthard.audit.sources.mapping.nearest import nearest
from agenthard.audit.sources.mapping.reader import Reader
from agenthard.audit.sources.mapping.runs import read_mapped_runs
from agenthard.audit.sources.mapping.splits import write_documents
from agenthard.audit.sources.mapping.tasks import absent_paths
from agenthard.audit.sources.native import RUNS, read_native_runs
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
        self.maps_runs = self.mapping.runs is not None
        self._folder = (self.file.parent / self.mapping.folder).resolve()
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

    def known_files(self) -> list[Path]:
        """Return the files that the mapping names, and the mapping itself."""
        return [*self._all_files(), self.file, self.folder / RUNS]

    def _all_files(self) -> list[Path]:
        joined = [path for spec in self.mapping.join for path in data_files(self.folder, spec.files)]
        return list(dict.fromkeys([*self._reader.paths, *joined, *self._value_files()]))

    def _value_files(self) -> list[Path]:
        return [self.folder / place.file for place in self.mapping.places().values() if place.file is not None]

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks in the order of files and rows."""
        for _, task in self._reader.tasks(quarantine):
            if not self.domains or task.subtask in self.domains:
                yield task

    def _refuse_absent_paths(self) -> None:
        places: dict[str, Place] = self.mapping.places()
        absent = absent_paths(places, self._reader.rows(Quarantine()))
        if absent:
            told = [
                f"{key}: {places[key].path!r} is in no row ({step!r} is absent{nearest(step, names)})"
                for key, (step, names) in absent.items()
            ]
            raise SourceError(f"{self.file}: {'; '.join(told)}. Where that is meant, give the path a default")

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream runs as the mapping's ``runs`` says, else in the native format."""
        if self.mapping.runs is None:
            return read_native_runs(path, quarantine)
        return read_mapped_runs(path, self.mapping, quarantine)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the rows of the tasks in ``keep`` and their joined rows, the mapping and the files it names.

        Rows of files that have lines are byte-identical, and so are elements of arrays; rows of Parquet and Arrow keep
        every value. A document that holds rows below a key is written anew with the kept ones.

        Raises:
            SourceError: when an id is unknown.
        """
        wanted = dict.fromkeys(keep)
        kept = {task.id: row for row, task in self._reader.tasks(Quarantine()) if task.id in wanted}
        if len(kept) < len(wanted):
            missing = [task_id for task_id in wanted if task_id not in kept]
            raise SourceError(f"no such task in {self.root}: {', '.join(missing[:5])}")
        own = [(row.file, row.number) for row in kept.values()]
        beside = [(partner.file, partner.number) for row in kept.values() for partner in row.joined.values()]
        written = write_rows(self.folder, beside if self.mapping.rows is not None else own + beside, out)
        if self.mapping.rows is not None:
            written += write_documents(self.folder, self.mapping.rows, own, out)
        for path in self._value_files():
            target = out / path.relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copyfile(path, target)))
        target = out / FILE_NAME
        text = read_text(self.file)
        target.write_text(re.sub(r"^folder:.*$", "folder: .", text, flags=re.MULTILINE), encoding="utf-8")
        return [*dict.fromkeys(written), target]


def _mapping_file(root: Path) -> Path:
    file = root / FILE_NAME if root.is_dir() else root
    if not file.is_file() or file.suffix not in SUFFIXES:
        raise SourceError(
            f"{root}: no mapping here; give a YAML file, or a folder with {FILE_NAME}. "
            f"`agenthard sources infer {root}` proposes one"
        )
    return file
