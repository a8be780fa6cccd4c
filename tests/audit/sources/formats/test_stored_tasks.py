"""Tasks in a file: the same sequence as in memory, with shared environments, and the same audit."""

import filecmp
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agenthard.audit.sources.formats import stored_tasks
from agenthard.audit.sources.formats.stored_tasks import BLOCK, StoredTasks, held_or_stored, index_of
from agenthard.flows.cli import app
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask
from tests.builders import make_task


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> tuple[AgentTask, ...]:
    monkeypatch.setattr(stored_tasks, "BLOCK", 4)
    monkeypatch.setattr(stored_tasks, "HELD_BLOCKS", 1)
    return tuple(make_task(f"lib/{number}") for number in range(10))


def test_it_is_the_sequence_of_the_tasks(tasks: tuple[AgentTask, ...]) -> None:
    stored = StoredTasks(iter(tasks))
    assert len(stored) == 10 and tuple(stored) == tasks and list(reversed(stored)) == list(reversed(tasks))
    assert [stored[number] for number in (9, 0, -1, -10, 4)] == [tasks[number] for number in (9, 0, -1, -10, 4)]
    for part in (
        slice(0, 4),
        slice(3, 9),
        slice(-3, None),
        slice(None, None, 3),
        slice(7, 2, -2),
        slice(5, 5),
        slice(99),
    ):
        assert stored[part] == tasks[part]
    assert tasks[7] in stored and stored.index(tasks[7]) == 7
    with pytest.raises(IndexError):
        stored[10]


def test_tasks_of_one_environment_share_it(tasks: tuple[AgentTask, ...]) -> None:
    shared = tasks[0].environment
    alone = tasks[5].environment.model_copy(update={"policy": "Other."})
    given = [t.model_copy(update={"environment": alone if i == 5 else shared}) for i, t in enumerate(tasks)]
    stored = StoredTasks(given)
    assert list(stored) == given
    assert {id(task.environment) for i, task in enumerate(stored) if i != 5} == {id(shared)}


def test_few_tasks_stay_in_memory(tasks: tuple[AgentTask, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tasks, "MOST_HELD", 10)
    assert held_or_stored(iter(tasks)) == tasks
    monkeypatch.setattr(stored_tasks, "MOST_HELD", 9)
    stored = held_or_stored(iter(tasks))
    assert isinstance(stored, StoredTasks) and tuple(stored) == tasks


def test_an_audit_of_stored_tasks_writes_the_same_bytes(
    tasks: tuple[AgentTask, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library").mkdir()
    lines = "".join(task.model_dump_json(exclude={"origins"}) + "\n" for task in tasks)
    (tmp_path / "library" / "tasks.jsonl").write_text(lines)
    for name, most in (("held", 10), ("stored", 3)):
        monkeypatch.setattr(stored_tasks, "MOST_HELD", most)
        words = ["audit", "native", str(tmp_path / "library"), "--workers", "1", "--out", str(tmp_path / name)]
        result = CliRunner().invoke(app, words)
        assert result.exit_code in (0, 1, 2), result.output
    held, stored = tmp_path / "held", tmp_path / "stored"
    files = [str(p.relative_to(held)) for p in held.rglob("*") if p.is_file() and "costs" not in p.parts]
    same, _, absent = filecmp.cmpfiles(held, stored, files, shallow=False)
    assert not absent and {"report.html", "results.sarif", "split/cleaned/tasks.jsonl"} <= set(same)
    assert set(files) - set(same) <= {"manifest.json", "work/settings.json", "work/checksums.json"}  # of the folder


def test_the_index_of_stored_tasks_is_that_of_the_tasks() -> None:
    origins = {"": Origin(file="tasks.jsonl", line=3), "/environment": Origin(file="environments.jsonl", line=1)}
    tasks = [make_task(str(number), origins=origins if number % 2 else {}) for number in range(BLOCK + 3)]
    ours, theirs = index_of(StoredTasks(tasks)), index_of(tasks)
    assert ours.ids == theirs.ids == [task.id for task in tasks]
    assert ours.lines == theirs.lines and list(ours.lines[:2]) == [0, 3]
    assert ours.gold_calls == theirs.gold_calls and ours.benchmarks == theirs.benchmarks
    assert ours.files == theirs.files == {"tasks.jsonl", "environments.jsonl"}
    assert ours.own_files == theirs.own_files == {"tasks.jsonl"}
