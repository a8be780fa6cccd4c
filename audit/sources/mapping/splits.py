"""Splits of JSON documents that hold their rows below a key."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from agenthard.audit.sources.formats.reading import load_document
from agenthard.taxonomy.pointer import resolve, split


def write_documents(folder: Path, rows: str, keep: Iterable[tuple[str, int]], out: Path) -> list[Path]:
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
