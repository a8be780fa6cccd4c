"""Parquet and Arrow files: their batches, and their values as JSON."""

import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

PARQUET, ARROW = "parquet", "arrow"
BATCH_ROWS = 1000
"""Rows of a Parquet file that are held at a time."""


def read_batches(path: Path, form: str) -> Iterator[Any]:
    """Stream the record batches of a Parquet or Arrow file.

    Args:
        path: the file.
        form: PARQUET or ARROW.
    """
    if form == PARQUET:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as table:
            yield from table.iter_batches(batch_size=BATCH_ROWS)
        return
    import pyarrow.ipc

    with path.open("rb") as stream:
        if is_arrow_file(path):
            reader = pyarrow.ipc.open_file(stream)
            yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            yield from pyarrow.ipc.open_stream(stream)


def is_arrow_file(path: Path) -> bool:
    """Tell Arrow's file format from its stream format, which data sets saved to disk have."""
    with path.open("rb") as stream:
        return stream.read(6) == b"ARROW1"


def as_json(value: Any) -> Any:
    """Turn a value of an Arrow table into JSON. NaN is null, because pandas writes missing numbers so.

    >>> as_json({"on": date(2024, 5, 1), "call": {"x": 1, "y": None}, "image": b"abc"})
    {'on': '2024-05-01', 'call': {'x': 1}, 'image': '3 bytes'}
    """
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (Decimal, timedelta)):
        return str(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
