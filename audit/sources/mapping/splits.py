"""Writes some of the rows that a mapping reads, in the format of each file."""

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.promptfoo import is_promptfoo, promptfoo_files, write_promptfoo
from agenthard.audit.sources.formats.row_splits import write_rows
from agenthard.audit.sources.formats.sqlite import KEPT, is_query, write_sqlite
from agenthard.audit.sources.mapping.data import MappedRow
from agenthard.audit.sources.mapping.mapping import MappingFile
from agenthard.taxonomy.pointer import resolve, split

YAML = (".yaml", ".yml")


def write_mapped(
    folder: Path, mapping: MappingFile, paths: Sequence[Path], rows: Sequence[MappedRow], out: Path
) -> list[Path]:
    """Write the rows of kept tasks, and the rows that are joined to them, each in the format of its file.

    Args:
        folder: folder of the data.
        mapping: the mapping.
        paths: its files of rows.
        rows: rows of the kept tasks.
        out: folder to write into.

    Returns:
        The files written.
    """
    configured = [path for path in paths if is_promptfoo(path)]
    written = _write_configured(folder, configured, rows, out)
    kept = [] if configured else [(mapping.rows, row) for row in rows]
    pointers = {spec.name: spec.rows for spec in mapping.join}
    kept += [(pointers[name], each) for row in rows for name, them in row.joined.items() for each in them]
    written += write_rows(folder, [(row.file, row.number) for at, row in kept if at is None and not row.table], out)
    for pointer in dict.fromkeys(at for at, row in kept if at is not None and not row.table):
        chosen = [(row.file, row.number) for at, row in kept if at == pointer]
        written += _write_documents(folder, str(pointer), chosen, out)
    return written + _write_databases(folder, [row for _, row in kept if row.table], out)


def without_query(text: str) -> str:
    """Return the text of the mapping of a split, where the rows of a query are in a table."""
    content = yaml.safe_load(text)
    if not is_query(content.get("rows") or KEPT):
        return text
    return yaml.safe_dump({**content, "rows": KEPT}, allow_unicode=True, sort_keys=False)


def _write_configured(folder: Path, configs: Sequence[Path], rows: Sequence[MappedRow], out: Path) -> list[Path]:
    """Write promptfoo configurations with the kept tests, and the files that they name.

    Args:
        folder: what the names of files are relative to.
        configs: the configurations.
        rows: the kept tests.
        out: folder to write into.
    """
    written = []
    for config in configs:
        tests, others = promptfoo_files(config)
        for file in (*tests, *others):
            name = file.relative_to(folder).as_posix()
            kept = [row.number for row in rows if row.file == name]
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            if file in others:
                written.append(Path(shutil.copyfile(file, out / name)))
            elif file.suffix in YAML:
                written.append(write_promptfoo(file, kept, out / name))
            else:  # number 0 means the header: a file without kept rows has nothing else
                written += write_rows(folder, [(name, number) for number in (0, *kept)], out)
    return written


def _write_databases(folder: Path, rows: Iterable[MappedRow], out: Path) -> list[Path]:
    """Write SQLite files with the kept rows.

    Args:
        folder: what the names of files are relative to.
        rows: rows of such files.
        out: folder to write into.
    """
    by_file: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        by_file.setdefault(row.file, []).append((row.table or "", row.number))
    written = []
    for file, kept in sorted(by_file.items()):
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        written.append(write_sqlite(folder / file, kept, out / file))
    return written


def _write_documents(folder: Path, rows: str, keep: Iterable[tuple[str, int]], out: Path) -> list[Path]:
    """Write each document with the kept rows alone; one that is itself a row is copied.

    Args:
        folder: what the names of files are relative to.
        rows: JSON Pointer of the rows in a document.
        keep: file and number of each row.
        out: folder to write into.

    Returns:
        The files written; a document without a kept row is not.
    """
    numbers: dict[str, set[int]] = {}
    for file, number in keep:
        numbers.setdefault(file, set()).add(number)
    written = []
    for file, kept in sorted(numbers.items()):
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        document = load_document(folder / file)
        found = resolve(document, rows)
        if isinstance(found, list):
            *above, last = split(rows)
            holder = document
            for step in above:
                holder = holder[int(step)] if isinstance(holder, list) else holder[step]
            holder[last] = [row for index, row in enumerate(found, start=1) if index in kept]
            target.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        else:
            shutil.copyfile(folder / file, target)
        written.append(target)
    return written
