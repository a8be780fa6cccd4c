"""The table of what each check did on each task: as Parquet, and read from it, without an object per row."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from agenthard.audit.coverage import CoverageTable
from agenthard.reports.kit.arrow import chosen, numbers
from agenthard.reports.kit.parquet import TEXT, Table, columns_of
from agenthard.taxonomy.files import replacing
from agenthard.taxonomy.finding import Coverage, Status

COVERAGE = Table(
    "coverage",
    "What one check did on one task. A pair that is absent was not checked.",
    tuple(columns_of(Coverage, task_id=TEXT, check=TEXT, status=TEXT, reason=TEXT)),
    group=100_000,
)


def write_coverage(path: Path, coverage: CoverageTable) -> None:
    """Write the table, one row group at a time, and replace the file in one step."""
    with replacing(path) as partial, pq.ParquetWriter(partial, COVERAGE.schema, compression="zstd") as writer:
        for batch in coverage_batches(coverage):
            writer.write_batch(batch)


def coverage_batches(coverage: CoverageTable) -> Iterator[pa.RecordBatch]:
    """Yield the rows, in batches of one row group."""
    codes = coverage.codes.ravel()
    statuses = [status for status, _ in coverage.outcomes]
    reasons = [reason for _, reason in coverage.outcomes]
    for at in coverage.places(COVERAGE.group):
        rows, columns = np.divmod(at, len(coverage.checks))
        first = rows[0]
        arrays = [
            chosen(coverage.tasks[first : rows[-1] + 1], rows - first),
            chosen(coverage.checks, columns),
            chosen(statuses, codes[at]),
            chosen(reasons, codes[at]),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=COVERAGE.schema)


def read_coverage_parquet(path: Path) -> CoverageTable:
    """Read the table."""
    columns = list(Coverage.model_fields)
    file = pq.ParquetFile(path, read_dictionary=columns)
    parts = [_part(file.read_row_group(number, columns)) for number in range(file.num_row_groups)]
    tasks = list(dict.fromkeys(task for part in parts for task in part.tasks))
    checks = list(dict.fromkeys(check for part in parts for check in part.checks))
    return CoverageTable.merged(tasks, checks, parts)


def _part(rows: pa.Table) -> CoverageTable:
    (tasks, row), (checks, column), (statuses, status), (reasons, reason) = (
        _codes(rows.column(name)) for name in Coverage.model_fields
    )
    pair = status * len(reasons) + reason
    used = np.bincount(pair, minlength=1) > 0  # sorting millions of rows to find these few pairs would take a second
    outcomes = [(Status(statuses[s]), reasons[r]) for s, r in (divmod(p, len(reasons)) for p in np.flatnonzero(used))]
    codes = np.zeros((len(tasks), len(checks)), np.int64)
    codes[row, column] = np.cumsum(used)[pair]
    return CoverageTable.restored(tasks, checks, outcomes, codes)


def _codes(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    return whole.dictionary.to_pylist(), numbers(whole.indices).astype(np.int64)
