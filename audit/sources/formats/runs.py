"""Reading runs of any kind for a benchmark: its own run files, native JSON Lines, or a score table."""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from agenthard.audit.sources.base import Quarantine, Source, SourceError
from agenthard.audit.sources.formats.matrix import is_matrix, read_matrix
from agenthard.audit.sources.formats.reading import open_binary
from agenthard.audit.sources.native import read_native_runs
from agenthard.taxonomy.trajectory import Trajectory


def read_runs(source: Source, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
    """Stream the runs at ``path``.

    Where the user mapped run files (``maps_runs``), all is left to the source. Else a CSV or Parquet file is a score
    table, a JSON Lines file whose first record has the fields of a Trajectory is native, and everything else is left
    to the source.

    Raises:
        SourceError: when there is nothing at the path, or nothing the source can read.
    """
    if not path.exists():
        raise SourceError(f"{path}: there are no runs at this path")
    if source.maps_runs:
        return source.runs(path, quarantine)
    if path.is_file() and is_matrix(path):
        return read_matrix(path, quarantine)
    if path.is_file() and _is_native(path):
        return read_native_runs(path, quarantine)
    return source.runs(path, quarantine)


def _is_native(path: Path) -> bool:
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        return False
    try:
        with open_binary(path) as stream:
            first = json.loads(stream.readline(1 << 24))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error):
        return False
    return isinstance(first, dict) and {"task_id", "model", "passed"} <= set(first)
