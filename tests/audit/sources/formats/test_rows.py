import datetime
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.row_splits import write_rows
from agenthard.audit.sources.formats.rows import iterate, peek, row_files

RECORDS = [{"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "c", "n": 3}]
LINES = "\n".join(json.dumps(record) for record in RECORDS) + "\n"


def write_table(path: Path, records: list[dict[str, Any]], how: str) -> None:
    table = pa.Table.from_pylist(records)
    if how == "parquet":
        pyarrow.parquet.write_table(table, path)
        return
    with path.open("wb") as stream:
        make = pyarrow.ipc.new_file if how == "file" else pyarrow.ipc.new_stream
        with make(stream, table.schema) as writer:
            writer.write_table(table)


def make(folder: Path, name: str) -> Path:
    path = folder / name
    texts = {
        "rows.jsonl": LINES,
        "lines.json": LINES,
        "array.json": json.dumps(RECORDS, indent=1),
        "rows.csv": 'id,n\na,1\n"b\nb",2\nc,3\n',
        "rows.tsv": "id\tn\na\t1\nb\t2\nc\t3\n",
    }
    if name in texts:
        path.write_text(texts[name], encoding="utf-8")
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(LINES.encode()))
    else:
        write_table(path, RECORDS, {"rows.parquet": "parquet", "file.arrow": "file"}.get(name, "stream"))
    return path


ALL = (
    "rows.jsonl",
    "lines.json",
    "array.json",
    "rows.csv",
    "rows.tsv",
    "rows.jsonl.gz",
    "rows.parquet",
    "file.arrow",
    "stream.arrow",
)


@pytest.mark.parametrize("name", ALL)
def test_rows_of_every_format_have_their_place(tmp_path: Path, name: str) -> None:
    quarantine = Quarantine()
    rows = list(iterate(make(tmp_path, name), quarantine))
    assert quarantine.items == []
    assert [str(row.values["n"]) for row in rows] == ["1", "2", "3"]
    assert [row.file for row in rows] == [name] * 3
    assert [row.number for row in rows] == [1, 2, 3]
    if name.endswith((".parquet", ".arrow")):
        assert rows[1].origin("/id").pointer == "/1/id" and rows[1].line is None
    elif name == "rows.csv":
        assert [row.line for row in rows] == [2, 3, 5]
    elif name == "array.json":
        assert rows[1].line == 6 and rows[1].origin("/id").pointer == "/1/id"
    else:
        assert rows[1].line == (3 if name == "rows.tsv" else 2) and rows[1].origin("/id").pointer == "/id"


@pytest.mark.parametrize("name", ALL)
def test_a_split_keeps_rows_as_they_are(tmp_path: Path, name: str) -> None:
    source = make(tmp_path, name)
    before = {row.number: row for row in iterate(source, Quarantine())}
    [written] = write_rows(tmp_path, [(name, 3), (name, 2)], tmp_path / "out")
    assert written == tmp_path / "out" / name
    after = list(iterate(written, Quarantine()))
    assert [(row.values, row.raw) for row in after] == [(before[n].values, before[n].raw) for n in (2, 3)]


def test_a_folder_is_read_in_order_without_what_describes_it(tmp_path: Path) -> None:
    for place in ("b/2.jsonl", "b/1.jsonl", "a/state.json", "a/dataset_info.json", ".cache/x.jsonl", "a/notes.txt"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(LINES, encoding="utf-8")
    assert [path.relative_to(tmp_path).as_posix() for path in row_files(tmp_path)] == ["b/1.jsonl", "b/2.jsonl"]
    assert [(row.file, row.number) for row in iterate(tmp_path, Quarantine())][:4] == [
        ("b/1.jsonl", 1),
        ("b/1.jsonl", 2),
        ("b/1.jsonl", 3),
        ("b/2.jsonl", 1),
    ]


@pytest.mark.parametrize(
    ("name", "content", "left", "line", "reason"),
    [
        ("a.jsonl", b'{"id": 1}\n{"id": \n{"id": 3}\n', 2, 2, "not valid JSON"),
        ("a.json", b'[{"id": 1}, 7, {"id": 3}]', 2, 1, "expected a JSON object, found int"),
        ("a.csv", b"id,n\n1,2\n3\n5,6\n", 2, 3, "the row has 1 cells, the header 2"),
        ("a.csv", b"id,n\n1,2\n\xff,4\n5,6\n", 2, 3, "not UTF-8"),
        ("a.csv", b"id,id\n1,2\n", 0, 1, "one name twice"),
        ("a.csv", b'id,n\n1,2\n"3,4\n5,6\n', 1, 4, "cannot read the table to its end"),
        ("a.csv", b"", 0, None, "the file is empty"),
        ("a.parquet", b"PAR1 no table", 0, None, "cannot read the table to its end"),
        ("a.arrow", b"ARROW1 no table", 0, None, "cannot read the table to its end"),
    ],
)
def test_what_is_damaged_is_quarantined_and_the_rest_is_read(
    tmp_path: Path, name: str, content: bytes, left: int, line: int | None, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    quarantine = Quarantine()
    assert len(list(iterate(tmp_path, quarantine))) == left
    [item] = quarantine.items
    assert (item.file, item.line) == (name, line) and reason in item.reason


def test_values_of_tables_become_json(tmp_path: Path) -> None:
    record = {
        "when": datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC),
        "price": Decimal("1.50"),
        "image": b"\x00\x01",
        "call": {"x": 1, "y": None},
        "list": [1, None],
        "nan": float("nan"),
    }
    write_table(tmp_path / "t.parquet", [record, {**record, "call": {"x": 2, "y": 3}}], "parquet")
    first, second = (row.values for row in iterate(tmp_path, Quarantine()))
    assert first["call"] == {"x": 1} and second["call"] == {"x": 2, "y": 3}
    assert first["when"] == "2024-05-01T12:00:00+00:00"
    assert (first["price"], first["image"], first["list"], first["nan"]) == ("1.50", "2 bytes", [1, None], None)


@pytest.mark.parametrize("name", ALL)
def test_a_look_at_a_file_gives_its_first_rows(tmp_path: Path, name: str) -> None:
    assert [str(values["n"]) for values in peek(make(tmp_path, name), 2)] == ["1", "2"]


def test_a_look_stops_before_damage_further_on(tmp_path: Path) -> None:
    path = tmp_path / "array.json"
    path.write_text('[{"n": 1}, {"n": 2}, {"n"', encoding="utf-8")
    assert peek(path, 2) == [{"n": 1}, {"n": 2}]
    path.write_text("[}", encoding="utf-8")
    assert peek(path, 2) == []
