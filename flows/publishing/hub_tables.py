"""The published tables: ``data/CONFIG/SPLIT-00000-of-00001.parquet``, as the Hugging Face Hub reads them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from agenthard.flows.publishing.chosen import ChosenSplit
from agenthard.flows.publishing.inspect_file import why_not_played
from agenthard.flows.publishing.records import SplitChoice
from agenthard.flows.publishing.removals import IN_SPLIT, Removal
from agenthard.flows.publishing.task_rows import (
    ENVIRONMENT_COLUMNS,
    REMOVAL_COLUMNS,
    TASK_COLUMNS,
    TaskWriter,
    TextColumn,
    batch_of,
    schema_of,
)
from agenthard.reports.kit.parquet import as_json, write_parquet

_BATCH = 500
_MOST_CONFIGS = 60
"""More categories than that stay in one file; the column `category` tells them apart."""
_RESERVED = ("default", "removals", "environments", "tasks")


class HubFile(NamedTuple):
    """One Parquet file."""

    config: str
    """Configuration of the data set."""
    split: str
    """Split of the configuration."""
    path: str
    """Path relative to the folder of the publication."""
    rows: int
    """Rows."""
    columns: tuple[TextColumn, ...]
    """Columns."""


class HubTables(NamedTuple):
    """What was written."""

    files: tuple[HubFile, ...]
    """Files with at least one row: tables without rows cannot be loaded."""
    contents: dict[str, str]
    """Hash of each task in the split, in the benchmark's order."""
    categories: dict[str, str]
    """Category of every task that was read, by id."""
    task_files: frozenset[str]
    """Files of the benchmark that the tasks are read from."""

    unplayed: dict[str, int]
    """Why tasks of the split cannot be run as Inspect samples, with their number."""


def write_tasks_tables(chosen: ChosenSplit, out: Path) -> HubTables:
    """Write the tasks of a split, one configuration per category, and the environments that they share."""
    actions = {each.task_id: each.action for each in chosen.decisions}
    actions |= {each.task_id: "repair" for each in getattr(chosen.manifest, "repaired", ())}
    categories, origins = _look_at(chosen)
    kept = dict.fromkeys(chosen.manifest.kept_ids)
    configs = config_names(list(dict.fromkeys(categories[each] for each in kept)))
    writer, contents = TaskWriter(), dict[str, str]()
    counts, unplayed = Counter[str](), Counter[str]()
    with chosen.tasks_source() as source, ExitStack() as opened:
        tables = _Tables(out, chosen.choice, opened)
        for task in source.read_tasks()[0]:
            if task.id in kept and task.id not in contents:
                row = writer.row(task, actions[task.id])
                contents[task.id] = row["content"]
                config = configs[task.subtask]
                counts[config] += 1
                if reason := why_not_played(task):
                    unplayed[reason] += 1
                tables.add(config, row)
        tables.finish()
    files = [
        HubFile(config, chosen.choice, file_of(config, chosen.choice), count, TASK_COLUMNS)
        for config, count in sorted(counts.items())
    ]
    rows = sorted(writer.environments.values(), key=lambda row: str(row["id"]))
    files += _write(out, "environments", chosen.choice, ENVIRONMENT_COLUMNS, rows)
    ordered = {task_id: contents[task_id] for task_id in kept if task_id in contents}
    return HubTables(tuple(files), ordered, categories, origins, dict(unplayed))


def write_removal_tables(out: Path, removals: Sequence[Removal]) -> tuple[HubFile, ...]:
    """Write ``removals.jsonl`` and the same as tables: what is not in the split, and what is in it with a remark."""
    lines = "".join(each.model_dump_json() + "\n" for each in removals)
    (out / "removals.jsonl").write_bytes(lines.encode("utf-8"))
    groups = {"removed": False, "in_split": True}
    written: list[HubFile] = []
    for name, inside in groups.items():
        rows = [_removal_row(each) for each in removals if (each.status in IN_SPLIT) == inside]
        written += _write(out, "removals", name, REMOVAL_COLUMNS, rows)
    return tuple(written)


def file_of(config: str, split: str) -> str:
    """Return the path of a table.

    >>> file_of("airline", "clean")
    'data/airline/clean-00000-of-00001.parquet'
    """
    return f"data/{config}/{split}-00000-of-00001.parquet"


def config_names(categories: Sequence[str]) -> dict[str, str]:
    """Name a configuration for each category: letters, digits, points and dashes, and no name twice.

    >>> config_names(["airline", "a b", "a/b", ""])
    {'airline': 'airline', 'a b': 'a-b', 'a/b': 'a-b-2', '': 'tasks'}
    """
    if len(categories) > _MOST_CONFIGS:
        return dict.fromkeys(categories, "tasks")
    found: dict[str, str] = {}
    for category in categories:
        base = re.sub(r"[^A-Za-z0-9_.]+", "-", category).strip("-.")[:60] or "tasks"
        base = f"{base}-tasks" if base.lower() in _RESERVED and category else base
        name, number = base, 2
        taken = {each.lower() for each in found.values()}
        while name.lower() in taken:
            name, number = f"{base}-{number}", number + 1
        found[category] = name
    return found


def _look_at(chosen: ChosenSplit) -> tuple[dict[str, str], frozenset[str]]:
    """Return the category of each task, and the files that tasks are read from."""
    categories, files = dict[str, str](), set[str]()
    for task in chosen.source.read_tasks()[0]:
        categories.setdefault(task.id, task.subtask)
        files |= {origin.file for at, origin in task.origins.items() if not at.startswith("/environment")}
    return categories, frozenset(files)


class _Tables:
    """Open Parquet files, one per configuration; a batch of each is in memory."""

    def __init__(self, out: Path, split: SplitChoice, opened: ExitStack) -> None:
        self._out, self._split, self._opened = out, split, opened
        self._schema = schema_of(TASK_COLUMNS)
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._rows: dict[str, list[Mapping[str, Any]]] = {}

    def add(self, config: str, row: Mapping[str, Any]) -> None:
        rows = self._rows.setdefault(config, [])
        rows.append(row)
        if len(rows) == _BATCH:
            self._flush(config)

    def finish(self) -> None:
        for config in list(self._rows):
            self._flush(config)

    def _flush(self, config: str) -> None:
        rows = self._rows.pop(config, [])
        if not rows:
            return
        if config not in self._writers:
            path = self._out / file_of(config, self._split)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writers[config] = self._opened.enter_context(pq.ParquetWriter(path, self._schema, compression="zstd"))
        self._writers[config].write_batch(batch_of([dict(row) for row in rows], self._schema))


def _write(
    out: Path, config: str, split: str, columns: tuple[TextColumn, ...], rows: Iterable[dict[str, Any]]
) -> list[HubFile]:
    given = list(rows)
    if not given:
        return []
    schema = schema_of(columns)

    def batch(chunk: list[Any]) -> pa.RecordBatch:
        return batch_of(chunk, schema)

    write_parquet(out / file_of(config, split), schema, given, group=_BATCH, batch=batch)
    return [HubFile(config, split, file_of(config, split), len(given), columns)]


def _removal_row(removal: Removal) -> dict[str, Any]:
    data = removal.model_dump(mode="json")
    return {
        "task_id": removal.task_id,
        "category": removal.category,
        "status": removal.status,
        "reasons": as_json(data["reasons"]),
        "decided_by": as_json(data["decided_by"]),
        "finding_ids": as_json([each["finding_id"] for each in data["findings"]]),
        "findings": as_json(data["findings"]),
    }
