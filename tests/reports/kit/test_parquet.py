from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from agenthard.reports.kit.parquet import write_by_group, write_parquet

SCHEMA = pa.schema([("number", pa.int64())])
ROWS = [{"number": number} for number in range(7)]


def test_a_file_written_group_by_group_is_the_one_written_at_once(tmp_path: Path) -> None:
    write_parquet(tmp_path / "at_once", SCHEMA, ROWS, group=3)
    steps = list(write_by_group(tmp_path / "by_group", SCHEMA, ROWS, group=3))
    assert len(steps) == 3
    assert (tmp_path / "by_group").read_bytes() == (tmp_path / "at_once").read_bytes()
    assert pq.read_table(tmp_path / "by_group").to_pylist() == ROWS


def test_a_writer_that_is_closed_early_leaves_no_file(tmp_path: Path) -> None:
    writer = write_by_group(tmp_path / "table", SCHEMA, ROWS, group=3)
    next(writer)
    writer.close()
    assert list(tmp_path.iterdir()) == []
