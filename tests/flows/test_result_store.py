"""Results by content: what is equal is not checked again, and no byte of the audit shows it."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_outputs import AuditOutcome
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import InfrastructureError
from agenthard.flows.result_store import ResultStore, TaskKeys
from tests.builders import make_run, make_task
from tests.flows.test_audit_flow import contents


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "benchmark"
    write_demo(folder)
    return folder


def audit(benchmark: Path, out: Path, reuse: Path | None = None, workers: int = 1) -> AuditOutcome:
    return run_audit(
        AuditInput(
            AuditSettings(
                source="native",
                path=str(benchmark),
                runs=(str(benchmark / "runs.jsonl"),),
                out=str(out),
                workers=workers,
                reuse=str(reuse) if reuse else None,
            )
        )
    )


def test_nothing_is_checked_twice_and_every_byte_is_the_same(benchmark: Path, tmp_path: Path) -> None:
    store = tmp_path / "results.db"
    plain = audit(benchmark, tmp_path / "plain")
    cold = audit(benchmark, tmp_path / "cold", store)
    warm = audit(benchmark, tmp_path / "warm", store, workers=2)
    assert (plain.reused, cold.reused, warm.reused) == (None, 0, 60)
    expected = contents(tmp_path / "plain")
    assert contents(tmp_path / "cold") == expected and contents(tmp_path / "warm") == expected


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda tasks, environments: tasks.insert(0, ""), 0),
        (lambda tasks, environments: tasks.reverse(), 0),
        (lambda tasks, environments: tasks.pop(3), 0),
        (lambda tasks, environments: tasks.__setitem__(0, tasks[0].replace("grandmother", "aunt")), 1),
        (lambda tasks, environments: environments.__setitem__(0, environments[0].replace("member", "guest", 1)), 27),
    ],
    ids=["a line before", "another order", "one task less", "another text", "another policy"],
)
def test_only_what_changed_is_checked(
    benchmark: Path, tmp_path: Path, change: Callable[[list[str], list[str]], Any], again: int
) -> None:
    store, changed = tmp_path / "results.db", tmp_path / "changed"
    audit(benchmark, tmp_path / "first", store)
    write_demo(changed)
    files = {
        name: (changed / name).read_text(encoding="utf-8").splitlines()
        for name in ("tasks.jsonl", "environments.jsonl")
    }
    change(files["tasks.jsonl"], files["environments.jsonl"])
    for name, lines in files.items():
        (changed / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    audit(changed, tmp_path / "plain")
    reusing = audit(changed, tmp_path / "reusing", store)
    assert reusing.tasks - (reusing.reused or 0) == again
    assert contents(tmp_path / "reusing") == contents(tmp_path / "plain")


def test_another_check_is_another_key() -> None:
    task = make_task("lib/1")
    one, other = TaskKeys("code of one version"), TaskKeys("code of another")
    assert one.key(task, []) == TaskKeys("code of one version").key(task, []) != other.key(task, [])
    assert one.key(task, [make_run("lib/1", "A")]) not in (one.key(task, []), one.key(task, [make_run("lib/1", "B")]))
    moved = task.model_copy(update={"origins": {}})
    assert one.key(moved, []) == one.key(task, [])


def test_a_damaged_result_is_made_again(benchmark: Path, tmp_path: Path) -> None:
    store = tmp_path / "results.db"
    audit(benchmark, tmp_path / "first", store)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE results SET result = substr(result, 1, 40) WHERE task_id = 'library/0'")
        connection.execute("UPDATE results SET replays = ? WHERE task_id = 'library/1'", (json.dumps([{"x": 1}]),))
    connection.close()
    again = audit(benchmark, tmp_path / "again", store)
    assert again.reused == 58
    assert contents(tmp_path / "again") == contents(tmp_path / "first")
    assert audit(benchmark, tmp_path / "third", store).reused == 60


def test_another_file_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look like one " * 50)
    with pytest.raises(InfrastructureError, match=r"notes\.txt: results of earlier audits cannot be used here"):
        ResultStore(path)
