"""Gold calls that a later one overwrites."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.evaluation import SupersededCall
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, Status
from tests.library import Desk, call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


@pytest.fixture(autouse=True)
def logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk has a shelf for each book, and logs each move; a note is overwritten and logged nowhere."""

    def move(self: Any, book: str, shelf: str, room: str) -> str:
        self.state["books"][book] |= {"shelf": shelf, "room": room}
        self.state["books"][book].setdefault("moves", []).append([shelf, room])
        return "moved"

    monkeypatch.setattr(Desk, "_move_book", move, raising=False)


def hits(*tasks: AgentTask) -> list[Hit]:
    shard = check_shard(tasks, {}, [SupersededCall()])
    assert [row.reason for row in shard.coverage if row.status is Status.ERROR] == []
    return [item.hit for item in shard.hits]


def move(shelf: str, room: str, book: str = "b7") -> Any:
    return call("move_book", book=book, shelf=shelf, room=room)


def moving(*calls: Any, says: str = "Help me.") -> AgentTask:
    """A task whose books have been moved once before, so that there is a log."""
    task = desk_task(*calls, says=says)
    state = {**task.environment.state, "books": {"b7": {"moves": []}, "b8": {"moves": []}}}
    return task.model_copy(update={"environment": task.environment.model_copy(update={"state": state})})


def test_only_the_log_tells_the_shorter_run_apart() -> None:
    [hit] = hits(moving(move("A", "1"), move("B", "1")))
    assert "/books/b7/moves" in hit.claim
    assert [item.pointer for item in hit.evidence] == ["/ground_truth/turns/0/0", "/ground_truth/turns/0/1"]
    assert hit.proof is not None
    assert [c.arguments["shelf"] for c in hit.proof.turns[0]] == ["B"]
    assert (hit.proof.passes, hit.proof.should_pass) == (False, True)


@pytest.mark.parametrize(
    "calls",
    [
        (move("A", "1"), move("B", "1", book="b8")),  # two books, of which both have been moved
        (call("pay_fee", member="ada", amount=1), call("pay_fee", member="ada", amount=2)),  # only a log, no value
        (call("leave_note", text="a"), call("leave_note", text="b")),  # overwritten, and logged nowhere
        (move("A", "1"), lend("b8"), move("A", "1")),  # the same call twice is gold-redundant's
        (move("A", "1"),),
    ],
)
def test_calls_that_leave_a_value_or_no_log_are_not_flagged(calls: tuple[Any, ...]) -> None:
    assert hits(moving(*calls)) == []


@pytest.mark.parametrize("says", ["First put it on shelf A, then on shelf B.", "Do both steps separately, please."])
def test_a_user_who_asks_for_the_steps_gets_them(says: str) -> None:
    assert hits(moving(move("A", "1"), move("B", "1"), says=says)) == []


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("source", "folder", "domain", "expected"),
    [
        ("tau2", "tau2-bench_v0.1.3", "airline", ["airline/32"]),
        ("tau2", "tau2-bench_v1.0.1", "airline", []),
        ("tau-bench", "tau-bench_59a200c", "airline", ["airline/22"]),
        ("tau2", "tau2-bench_v0.1.3", "retail", []),
    ],
)
def test_the_real_one_is_found_and_no_other(
    corpora: Path, source: str, folder: str, domain: str, expected: list[str]
) -> None:
    tasks = list(open_source(source, corpora / folder, (domain,)).tasks(Quarantine()))
    shard = check_shard(tasks, {}, [SupersededCall()])
    assert [task_id for item in shard.hits for task_id in item.task_ids] == expected
