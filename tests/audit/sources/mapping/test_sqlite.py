"""A SQLite file as a benchmark: tables, views and queries, joined tables, splits, and hostile files."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

import agenthard as ah
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats import sqlite
from agenthard.audit.sources.formats.sqlite import is_sqlite, read_sqlite
from agenthard.audit.sources.mapping import MappingSource
from agenthard.audit.sources.mapping.infer import infer
from agenthard.audit.sources.mapping.infer.proposal_yaml import as_yaml
from tests.audit.sources.mapping.conftest import LEND

TASKS = [
    (
        i,
        f"Please lend me book {i}.",
        json.dumps([LEND]),
        json.dumps([{"name": "lend_book", "arguments": {"book_id": i}}]),
    )
    for i in range(1, 6)
]


def database(path: Path, tables: dict[str, tuple[str, Iterable[tuple[Any, ...]]]], *more: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for name, (columns, rows) in tables.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * (columns.count(',') + 1))})", rows)
        for statement in more:
            connection.execute(statement)
        connection.commit()
    return path


def lending(path: Path, *more: str) -> Path:
    return database(path, {"tasks": ("nr INTEGER PRIMARY KEY, ask TEXT, tools TEXT, gold TEXT", TASKS)}, *more)


def mapped(folder: Path, **changes: Any) -> MappingSource:
    mapping = {"benchmark": "library", "files": "lib.sqlite", "id": "to_string(nr)", "user": {"turns": "ask"},
               "json_columns": ["tools", "gold"], "environment": {"tools": "tools"},
               "ground_truth": {"calls": "gold"}}  # fmt: skip
    (folder / "mapping.yaml").write_text(yaml.safe_dump({**mapping, **changes}))
    return MappingSource(folder)


def ids(source: MappingSource) -> list[str]:
    quarantine = Quarantine()
    found = [task.id for task in source.tasks(quarantine)]
    assert quarantine.items == []
    return found


def test_a_table_is_proposed_audited_and_split(tmp_path: Path) -> None:
    lending(tmp_path / "lib.sqlite", "CREATE TABLE notes (text TEXT)")
    proposal = infer(tmp_path / "lib.sqlite")
    assert (proposal.mapping["rows"], proposal.mapping["id"]) == ("tasks", "nr")
    assert (proposal.understood.parsed, proposal.understood.calls, proposal.understood.problems) == (5, 5, [])
    (tmp_path / "mapping.yaml").write_text(as_yaml(proposal))
    before = (tmp_path / "lib.sqlite").read_bytes()
    result = ah.audit(ah.open_source("mapping", tmp_path))
    assert len(result.tasks) == 5 and not result.findings
    source = MappingSource(tmp_path)
    assert [task.origins[""].pointer for task in source.tasks(Quarantine())][:2] == ["/0", "/1"]
    source.write_split(["2", "4"], tmp_path / "split")
    assert ids(MappingSource(tmp_path / "split")) == ["2", "4"]
    with closing(sqlite3.connect(tmp_path / "split" / "lib.sqlite")) as split:
        assert split.execute("SELECT * FROM tasks").fetchall() == [TASKS[1], TASKS[3]]
    assert (tmp_path / "lib.sqlite").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lib.sqlite", "mapping.yaml", "split"]


def test_a_view_and_a_query(tmp_path: Path) -> None:
    lending(tmp_path / "lib.sqlite", "CREATE VIEW late AS SELECT * FROM tasks WHERE nr > 3")
    assert ids(mapped(tmp_path, rows="late")) == ["4", "5"]
    source = mapped(tmp_path, rows="SELECT * FROM tasks WHERE nr < 4 ORDER BY nr DESC")
    assert ids(source) == ["3", "2", "1"]
    source.write_split(["3", "1"], tmp_path / "split")
    assert ids(MappingSource(tmp_path / "split")) == ["3", "1"]


def test_one_row_per_call_in_a_table_next_to_the_tasks(tmp_path: Path) -> None:
    tasks = [(i, f"Lend me book {i} and book {i + 10}, please.", json.dumps([LEND])) for i in range(1, 5)]
    calls = [(f"c{i}{n}", i, "lend_book", json.dumps({"book_id": i + n * 10})) for i in range(1, 5) for n in range(2)]
    database(tmp_path / "lib.db", {
        "tasks": ("nr INTEGER, ask TEXT, tools TEXT", tasks),
        "steps": ("ref TEXT, task INTEGER, tool TEXT, args TEXT", calls),
    })  # fmt: skip
    proposal = infer(tmp_path)
    assert proposal.mapping["join"] == [
        {"name": "steps", "files": ["lib.db"], "rows": "steps", "key": "task", "on": "nr", "many": True}
    ]
    assert (proposal.understood.parsed, proposal.understood.calls) == (4, 8)
    (tmp_path / "mapping.yaml").write_text(as_yaml(proposal))
    MappingSource(tmp_path).write_split(["3"], tmp_path / "split")
    [task] = MappingSource(tmp_path / "split").tasks(Quarantine())
    assert [call.arguments["book_id"] for _, call in task.gold_calls()] == [3, 13]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "say which one holds the rows: set `rows` to a table or a SELECT; the tables are: notes, tasks"),
        ("task", "no table has the name 'task'"),
    ],
)
def test_the_table_has_to_be_named(tmp_path: Path, rows: str | None, said: str) -> None:
    lending(tmp_path / "lib.sqlite", "CREATE TABLE notes (text TEXT)")
    with pytest.raises(SourceError) as caught:
        mapped(tmp_path, **({} if rows is None else {"rows": rows}))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nr FROM absent", "no such table: absent"),
        ("SELECT nr, nr FROM tasks", "one column name twice"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", "interrupted"),
        ("SELECT load_extension('x') AS nr", "cannot read"),
        ("WITH a AS (SELECT 1) INSERT INTO tasks(nr) SELECT 9 FROM a", "not authorized"),
    ],
)
def test_a_query_that_does_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, said: str
) -> None:
    monkeypatch.setattr(sqlite, "_MOST_STEPS", 3)
    lending(tmp_path / "lib.sqlite")
    quarantine = Quarantine()
    assert list(read_sqlite(tmp_path / "lib.sqlite", "lib.sqlite", query, quarantine)) == []
    assert said in quarantine.items[0].reason


def test_rows_that_cannot_be_used(tmp_path: Path) -> None:
    database(tmp_path / "lib.db", {"tasks": ("a", [("right",)])},
             "INSERT INTO tasks VALUES (CAST(x'ff41' AS TEXT))", "INSERT INTO tasks VALUES (x'0102')",
             "INSERT INTO tasks VALUES (9e999)")  # fmt: skip
    quarantine = Quarantine()
    rows = list(read_sqlite(tmp_path / "lib.db", "lib.db", "tasks", quarantine))
    assert [(row.number, row.values) for row in rows] == [(1, {"a": "right"}), (3, {"a": "2 bytes"})]
    assert [(item.pointer, item.kind) for item in quarantine.items] == [("/1", "task"), ("/3", "task")]
    assert "not UTF-8" in quarantine.items[0].reason


def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("a text")
    assert not is_sqlite(tmp_path / "text.db") and not is_sqlite(tmp_path / "absent.db")
    lending(tmp_path / "lib.sqlite")
    (tmp_path / "lib.sqlite-wal").write_bytes(b"later")
    with pytest.raises(SourceError, match="wal_checkpoint"):
        mapped(tmp_path)
    (tmp_path / "lib.sqlite-wal").unlink()
    content = (tmp_path / "lib.sqlite").read_bytes()
    (tmp_path / "lib.sqlite").write_bytes(content[:100] + b"\x07" * (len(content) - 100))
    with pytest.raises(SourceError, match="cannot read the SQLite file"):
        mapped(tmp_path)
