"""The Parquet tables: round trip, equal bytes for equal input, streaming, and the data dictionary."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from agenthard.audit.decisions.priority import review_order
from agenthard.reports.result import AuditResult
from agenthard.reports.tables import write_tables
from agenthard.taxonomy.finding import Coverage, Finding
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, Message
from agenthard.taxonomy.trajectory import Trajectory
from tests.reports.shop import ATTACK, QUESTIONS, shop_runs


@pytest.fixture
def tables(shop: AuditResult, tmp_path: Path) -> Path:
    write_tables(shop, tmp_path / "tables", shop_runs())
    return tmp_path / "tables"


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return pq.read_table(folder / f"{name}.parquet").to_pylist()


def test_equal_input_gives_equal_bytes(shop: AuditResult, tables: Path, tmp_path: Path) -> None:
    written = write_tables(shop, tmp_path / "again", shop_runs())
    assert [path.name for path in written] == [
        "tasks.parquet",
        "trajectories.parquet",
        "findings.parquet",
        "decisions.parquet",
        "tickets.parquet",
        "coverage.parquet",
        "quarantine.parquet",
        "not_read.parquet",
        "README.md",
    ]
    for path in written:
        assert path.read_bytes() == (tables / path.name).read_bytes(), path.name
    assert sorted(path.name for path in tables.iterdir()) == sorted(path.name for path in written)


def test_tasks_come_back(shop: AuditResult, tables: Path) -> None:
    back = rows(tables, "tasks")
    assert [row["id"] for row in back] == [f"shop/{i}" for i in range(5)]
    for row, task in zip(back, shop.tasks, strict=True):
        environment = json.loads(row["environment"])
        assert "state" not in environment
        rebuilt = AgentTask.model_validate(
            {
                **{key: row[key] for key in ("id", "native_id", "benchmark", "subtask", "cluster", "traits")},
                **{key: json.loads(row[key]) for key in ("user", "initial_state", "hidden_tools", "evaluation")},
                **{key: json.loads(row[key]) for key in ("ground_truth", "metadata")},
                "environment": {**environment, "state": task.environment.state},
                "origins": task.origins,
            }
        )
        assert rebuilt == task
        assert row["tool_names"] == [tool.name for tool in task.environment.tools]
        assert (
            Origin(file=row["origin_file"], line=row["origin_line"], pointer=row["origin_pointer"])
            == (task.origins[""])
        )


def test_runs_come_back(tables: Path) -> None:
    back = rows(tables, "trajectories")
    assert [row["id"] for row in back] == [run.id for run in shop_runs()]
    messages = [Message.model_validate(item) for item in json.loads(back[0]["messages"])]
    assert messages == list(next(iter(shop_runs())).messages), "a lone surrogate in a log survives"
    assert json.loads(back[0]["usage"]) == {"steps": 3}
    assert (back[0]["origin_file"], back[0]["origin_line"]) == ("runs.jsonl", 4)
    broken = next(row for row in back if row["status"] == "infrastructure_error")
    assert broken["passed"] is None and broken["score"] is None and broken["status_reason"] == "time-out"


def test_findings_decisions_and_coverage_come_back(shop: AuditResult, tables: Path) -> None:
    for row, finding in zip(rows(tables, "findings"), shop.findings, strict=True):
        places = []
        for item in row["evidence"]:
            places.append((item.pop("file"), item.pop("line")))
            assert (item.pop("start") is None) == (item.pop("end") is None)
            item.update(pointer=item.pop("record_pointer"), quote=item.pop("record_quote"))
        assert row.pop("component") == shop.taxonomy[finding.category].component
        row.update(patch=json.loads(row["patch"]), measures=json.loads(row["measures"]))
        assert Finding.model_validate(row) == finding
        assert all(file for file, _ in places)
    assert rows(tables, "findings")[0]["evidence"][0]["quote"].startswith("An order")
    decisions = rows(tables, "decisions")
    queue = {item.task_id: item.place for item in review_order([task.id for task in shop.tasks], shop.findings)}
    assert decisions == [
        {
            **d.model_dump(),
            "reasons": list(d.reasons),
            "finding_ids": list(d.finding_ids),
            "rests_on": list(d.rests_on),
            "review_place": queue.get(d.task_id),
        }
        for d in shop.decisions
    ]
    assert sorted(place for row in decisions if (place := row["review_place"])) == list(range(1, len(queue) + 1))
    assert [Coverage.model_validate(row) for row in rows(tables, "coverage")] == list(shop.coverage)
    assert rows(tables, "quarantine")[0]["reason"] == f"not UTF-8 {ATTACK}"


def test_surrogates_in_plain_columns_become_their_escape(shop: AuditResult, tmp_path: Path) -> None:
    run = Trajectory(id="r\udfff", task_id="shop/0", model="m")
    write_tables(shop, tmp_path, [run])
    assert rows(tmp_path, "trajectories")[0]["id"] == "r\\udfff"


def test_runs_are_streamed_in_row_groups(shop: AuditResult, tmp_path: Path) -> None:
    held = 0

    def many() -> Iterator[Trajectory]:
        nonlocal held
        for i in range(450):
            held = i
            yield Trajectory(id=str(i), task_id="shop/0", model="m", messages=(Message(role="user", content="hi"),))

    write_tables(shop, tmp_path, many())
    meta = pq.ParquetFile(tmp_path / "trajectories.parquet").metadata
    assert [meta.row_group(i).num_rows for i in range(meta.num_row_groups)] == [200, 200, 50]
    assert held == 449


def test_no_runs_give_an_empty_table_with_all_columns(shop: AuditResult, tmp_path: Path) -> None:
    write_tables(shop, tmp_path, ())
    table = pq.read_table(tmp_path / "trajectories.parquet")
    assert table.num_rows == 0 and "messages" in table.column_names


def test_every_column_is_described(tables: Path) -> None:
    dictionary = (tables / "README.md").read_text(encoding="utf-8")
    for path in sorted(tables.glob("*.parquet")):
        section = dictionary.split(f"## {path.name}\n")[1].split("\n## ")[0]
        for field in pq.read_schema(path):
            description = field.metadata[b"description"].decode()
            assert description.endswith(".") and f"| `{field.name}` |" in section and description in section


def test_quotes_of_the_questions_are_not_altered(tables: Path) -> None:
    assert [json.loads(row["user"])["instruction"] for row in rows(tables, "tasks")] == list(QUESTIONS)
