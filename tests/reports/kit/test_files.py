"""JSON that is written piece by piece has the bytes of JSON that is written at once."""

from pathlib import Path

import pytest

from agenthard.reports.kit.files import Streamed, json_text, write_json_text


@pytest.mark.parametrize("items", [[], [1], [{"b": 1.5, "a": [float("nan"), "é\ud800"]}, []]])
def test_streamed_items_give_the_same_bytes(tmp_path: Path, items: list[object]) -> None:
    value = {"z": items, "a": {"text": "x" * 50_000}}
    write_json_text(tmp_path / "one.json", {**value, "z": Streamed(lambda: iter(items))}, indent=1, sort_keys=True)
    expected = json_text(value, indent=1, sort_keys=True) + "\n"
    assert (tmp_path / "one.json").read_bytes() == expected.encode()
