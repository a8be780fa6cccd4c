"""The source: a data set's rows, read as the known layout that they have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, Source, SourceError
from agenthard.audit.sources.formats.row_source import FILES_LOOKED_AT, LOOKED_AT, RowSource
from agenthard.audit.sources.formats.rows import Row, folder_of, peek, read_rows
from agenthard.audit.sources.hf.function_rows import FunctionRows
from agenthard.audit.sources.hf.layout import caches, find_shards, looks_like_data_set
from agenthard.audit.sources.registry import source_class
from agenthard.taxonomy.task import AgentTask


@cache
def row_layouts() -> tuple[type[RowSource], ...]:
    """Return the known layouts of rows, found by the names of their sources; the first that fits counts."""
    layouts = (source_class("complexfuncbench"), source_class("drafterbench"), FunctionRows, source_class("chat"))
    return tuple(layout for layout in layouts if issubclass(layout, RowSource))


class HuggingFace(RowSource):
    """Reader of Hugging Face data sets by local path. A domain is a configuration and split, else the layout's own."""

    name = "hf"
    title = "Hugging Face data set"
    layout = "a folder from save_to_disk, a clone with a card, or Parquet and Arrow files"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a data set.

        Raises:
            SourceError: No rows, their layout is not known, or a domain is unknown.
        """
        Source.__init__(self, root, domains)
        self._labels = _labels(root)
        first = _first_rows(self._labels)
        if not first:
            raise SourceError(f"{root}: no data set here; looked for {self.layout}. Give the folder, not its name")
        kind = _kind(first)
        if kind is None:
            columns = ", ".join(sorted({name for row in first for name in row.values}))
            known = "; or ".join(layout.columns for layout in row_layouts())
            raise SourceError(
                f"{root}: the rows have the columns {columns}, and no known layout has these ({known}). "
                f"Describe them in a mapping: `agenthard sources infer {root}` proposes one"
            )
        self._reader = kind(Path(first[0].file))
        self.require_domains()

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether a row has one of the known layouts."""
        return any(layout.fits(values) for layout in row_layouts())

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether a path is a data set whose rows have a known layout."""
        if not looks_like_data_set(root):
            return False
        try:
            values = [row for path in islice(_labels(root), FILES_LOOKED_AT) for row in peek(path, LOOKED_AT)]
        except SourceError:
            return False
        return any(cls.fits(row) for row in values)

    def files(self) -> Iterator[Path]:
        """Yield the files that the card or the folder names as the data set's rows."""
        return iter(self._labels)

    def known_files(self) -> Iterator[Path]:
        """Yield the files of rows, and Arrow files that ``state.json`` does not list: the caches of the library."""
        yield from super().known_files()
        yield from caches(self.root)

    def build(self, row: Row) -> AgentTask:
        """Build the task of a row as its layout says; ids carry the configuration and split where there are several."""
        task = self._reader.build(row)
        label = self._labels[folder_of(self.root) / row.file]
        if len(set(self._labels.values())) < 2:
            return task
        return task.model_copy(update={"id": f"{label}/{task.id}", "subtask": label})


def _labels(root: Path) -> dict[Path, str]:
    """Return the files of rows with their configuration and split; of a file with two, the first counts."""
    labels: dict[Path, str] = {}
    for shard in find_shards(root):
        labels.setdefault(shard.path, "/".join(part for part in (shard.config, shard.split) if part))
    return labels


def _first_rows(paths: Iterable[Path]) -> list[Row]:
    """Return the first rows of the first file that has any; their ``file`` is its path."""
    for path in paths:
        rows = list(islice(read_rows(path, path.as_posix(), Quarantine()), LOOKED_AT))
        if rows:
            return rows
    return []


def _kind(rows: Sequence[Row]) -> type[RowSource] | None:
    return next((layout for layout in row_layouts() if any(layout.fits(row.values) for row in rows)), None)
