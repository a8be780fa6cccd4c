"""Arrow arrays of Python values and back; pyarrow imports pandas for ``array`` and ``to_numpy``, more for ``take``.

Each takes longer than the checks of a small audit.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from agenthard.reports.kit.files import utf8

_NUMBERS = {pa.int64(): np.int64, pa.float64(): np.float64}


def array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Make an array; None is a missing value, and a lone surrogate in a text becomes its escape.

    Args:
        values: texts, whole numbers, numbers, truth values, or lists or mappings of such.
        kind: ``string``, ``int64``, ``float64``, ``bool``, or ``list`` or ``struct`` of such.

    Raises:
        TypeError: No such type.
    """
    present = [value is not None for value in values]
    valid = None if all(present) else _bits(present)
    if kind in _NUMBERS:
        numbers = np.array([0 if value is None else value for value in values], _NUMBERS[kind])
        return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(numbers)])
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, len(values), [valid, _bits([bool(value) for value in values])])
    if pa.types.is_string(kind):
        texts = [b"" if value is None else _encoded(value) for value in values]
        return pa.Array.from_buffers(kind, len(values), [valid, _offsets(texts), pa.py_buffer(b"".join(texts))])
    if pa.types.is_list(kind):
        lists = [() if value is None else value for value in values]
        items = array(list(chain.from_iterable(lists)), kind.value_type)
        return pa.Array.from_buffers(kind, len(values), [valid, _offsets(lists)], children=[items])
    if pa.types.is_struct(kind):
        rows = [{} if value is None else value for value in values]
        fields = [array([row.get(field.name) for row in rows], field.type) for field in kind]
        return pa.Array.from_buffers(kind, len(values), [valid], children=fields)
    raise TypeError(f"no array of {kind} can be made here")


def numbers(column: pa.Array) -> NDArray[np.generic]:
    """Return the values of an array of numbers without missing values; ``to_numpy`` imports pandas."""
    dtype: np.dtype[np.generic] = np.dtype(str(column.type).replace("double", "float64"))
    return np.frombuffer(column.buffers()[1], dtype)[column.offset :][: len(column)]


def chosen(texts: Sequence[str], positions: NDArray[np.integer]) -> pa.Array:
    """Make an array of texts from their positions in a list of distinct texts."""
    encoded = [_encoded(text) for text in texts]
    lengths = np.array([len(text) for text in encoded], np.int32)[positions] if encoded else np.zeros(0, np.int32)
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])
    content = pa.py_buffer(b"".join(map(encoded.__getitem__, positions.tolist())))
    return pa.Array.from_buffers(pa.string(), len(positions), [None, pa.py_buffer(offsets), content])


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return utf8(text).encode()


def _bits(values: Sequence[bool]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(values, bool), bitorder="little"))


def _offsets(values: Sequence[Any]) -> pa.Buffer:
    return pa.py_buffer(np.cumsum([0, *map(len, values)], dtype=np.int32))
