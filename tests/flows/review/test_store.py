"""The store: nothing lost, nothing doubled, one order for all; with SQLite and with PostgreSQL."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.review import store as store_module
from agenthard.flows.review.events import ReviewError
from agenthard.flows.review.store import HEAD, EventStore
from tests.flows.review.build_events import ids, undo, verdict

WRITER = """
import sys
from agenthard.flows.review.store import EventStore
from tests.flows.review.build_events import verdict
with EventStore(sys.argv[1]) as store:
    for number in range(int(sys.argv[3])):
        done = store.append([verdict(f"task/{number}", by=sys.argv[2])])
        print(done[0].id, flush=True)
"""


def start_writer(url: str, by: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, url, by, str(count)]
    root = Path(__file__).parents[3]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_events_come_back_in_order(store_url: str) -> None:
    events = [verdict("lib/1", "no", reason="“é” ' \" \\ ;--"), verdict("lib/2", by="bob")]
    with EventStore(store_url) as store:
        stored = store.append(events)
        assert [event.seq for event in stored] == [1, 2]
        assert list(store.since()) == stored and list(store.since(1)) == stored[1:]
        assert store.last() == 2 and store.runs() == ["demo"]
        assert [event.model_copy(update={"seq": None}) for event in stored] == events
        assert store.state("demo").item(("task", "lib/1")).answers == {"ann": "no"}
        assert list(store.since(0, "other")) == []
    with EventStore(store_url) as store:
        assert list(store.since()) == stored


def test_sent_twice_is_stored_once(store_url: str) -> None:
    one, two = verdict("lib/1"), verdict("lib/2")
    with EventStore(store_url) as store:
        first = store.append([one])
        again = store.append([one, two, one])
        assert again[0] == again[2] == first[0] and store.last() == 2
        with pytest.raises(ReviewError, match="another event with this id"):
            store.append([one.model_copy(update={"by": "bob"})])


def test_all_or_none(store_url: str) -> None:
    one, two = verdict("lib/1"), verdict("lib/2")
    with EventStore(store_url) as store:
        with pytest.raises(ReviewError, match="is not stored"):
            store.append([one, undo(two)])
        assert store.last() == 0 and list(store.since()) == []
        store.append([one])
        elsewhere = undo(one).model_copy(update={"target_id": "lib/3"})
        with pytest.raises(ReviewError, match="about another item"):
            store.append([elsewhere])
        store.append([two, undo(two), undo(one)])


def test_more_events_than_one_batch(store_url: str) -> None:
    events = [verdict(f"task/{number}") for number in range(2100)]
    with EventStore(store_url) as store:
        store.append(events)
        assert ids(list(store.since())) == ids(events)
        assert ids(list(store.since(1000))) == ids(events)[1000:]


def test_processes_write_at_once(store_url: str) -> None:
    """They also make the table at once, and a reader that follows along misses nothing."""
    names, each = ("ann", "bob", "cem"), 60
    writers = [start_writer(store_url, by, each) for by in names]
    seen = list[str]()
    with EventStore(store_url) as store:
        last = 0
        while any(writer.poll() is None for writer in writers):
            for event in store.since(last):
                assert event.seq is not None and event.seq > last
                last = event.seq
                seen.append(str(event.id))
        seen += [str(event.id) for event in store.since(last)]
        told = [(writer.stdout.read() if writer.stdout else "").split() for writer in writers]
        assert [writer.returncode for writer in writers] == [0, 0, 0]
        assert sorted(seen) == sorted(sum(told, [])) and len(set(seen)) == each * len(names)
        for by, own in zip(names, told, strict=True):
            assert [str(event.id) for event in store.since() if event.by == by] == own


@pytest.mark.parametrize("after", [1, 40])
def test_kill_loses_nothing_that_was_acknowledged(store_url: str, after: int) -> None:
    writer = start_writer(store_url, "ann", 100_000)
    assert writer.stdout is not None
    told = [writer.stdout.readline().strip() for _ in range(after)]
    os.kill(writer.pid, signal.SIGKILL)
    told += writer.stdout.read().split()
    writer.wait()
    with EventStore(store_url) as store:
        stored = [str(event.id) for event in store.since()]
        assert stored[: len(told)] == told and len(stored) - len(told) in (0, 1)
        store.append([verdict("lib/1")])
        assert store.last() == len(stored) + 1


def test_the_table_has_the_last_version(store_url: str) -> None:
    EventStore(store_url).close()
    folder = Path(store_module.__file__).parent / "migrations"
    assert ScriptDirectory(str(folder)).get_current_head() == HEAD
    engine = store_module._engine(store_url)
    found = {column["name"] for column in sa.inspect(engine).get_columns("review_events")}
    assert found == {column.name for column in store_module._EVENTS.columns}
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE review_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(InfrastructureError, match="has version 9999, and this AgentHard knows"):
        EventStore(store_url)


def test_wrong_urls_are_refused_without_their_password(tmp_path: Path) -> None:
    for url, words in (
        ("mysql://me:secret@host/db", "not the URL of a review store"),
        ("me:secret@host", "not the URL of a review store"),
        ("sqlite://", "needs a file"),
        (f"sqlite:///{tmp_path}/no/review.db", "the folder of the review store is not there"),
    ):
        with pytest.raises(ReviewError, match=words) as caught:
            EventStore(url)
        assert "secret" not in str(caught.value)
    with pytest.raises(InfrastructureError, match="cannot be opened") as failed:
        EventStore(f"postgresql://me:secret@/db?host={tmp_path}")
    assert "secret" not in str(failed.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "review.db").write_text("hello " * 1000)
    with pytest.raises(InfrastructureError, match="file is not a database"):
        EventStore.of_run(tmp_path)


def test_the_file_is_durable(tmp_path: Path) -> None:
    EventStore.of_run(tmp_path).close()
    with sqlite3.connect(tmp_path / "review.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
