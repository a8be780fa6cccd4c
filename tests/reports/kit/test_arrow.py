"""Arrow arrays made without pandas equal those that pyarrow makes."""

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from agenthard.reports.kit.arrow import array, chosen, numbers

QUOTES = pa.list_(pa.struct([("text", pa.string()), ("line", pa.int64())]))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", None, "é", ""], pa.string()),
        ([1, None, -(2**60)], pa.int64()),
        ([1.5, None], pa.float64()),
        ([True, None, False] * 5, pa.bool_()),
        ([["a", "b"], [], None], pa.list_(pa.string())),
        ([[{"text": "x", "line": 1}, {"text": None, "line": None}], None], QUOTES),
        ([], QUOTES),
    ],
)
def test_arrays_are_those_of_pyarrow(values: list[Any], kind: pa.DataType) -> None:
    found = array(values, kind)
    found.validate(full=True)
    assert found.equals(pa.array(values, type=kind))


def test_a_lone_surrogate_becomes_its_escape() -> None:
    assert array(["a\ud800", "é"], pa.string()).to_pylist() == ["a\\ud800", "é"]


def test_numbers_are_those_of_a_slice_too() -> None:
    for kind in (pa.int32(), pa.int64(), pa.float64()):
        assert numbers(pa.array([1, 2, 3, 4], kind)[1:3]).tolist() == [2, 3]


def test_texts_are_chosen_by_position() -> None:
    found = chosen(["a", "é\ud800"], np.array([1, 1, 0]))
    found.validate(full=True)
    assert found.to_pylist() == ["é\\ud800", "é\\ud800", "a"]
    assert chosen([], np.array([], np.int64)).to_pylist() == []


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys, pyarrow as pa; from agenthard.reports.kit.arrow import array; "
        "array(['a', None], pa.string()), array([1], pa.int64()); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
