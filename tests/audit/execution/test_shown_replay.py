"""What tools answered to a ground truth: kept with the shard when a check has executed it, and shortened."""

from pathlib import Path

import pytest

from agenthard.audit.detectors.registry import detector
from agenthard.audit.execution import shown_replay
from agenthard.audit.execution.context import Execution
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.shard_worker import check_tasks, write_shard
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def test_the_replays_that_checks_made_are_in_the_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_replay, "LONGEST", 12)
    lent, failed = desk_task(lend(), call("find_book", book="b7")), desk_task(call("find_book", book="nowhere"))
    failed = failed.model_copy(update={"id": "lib/2"})
    idle = desk_task().model_copy(update={"id": "lib/3"})
    with Execution() as execution:
        checked = check_tasks(execution, [lent, failed, idle], (), [detector("gold-fails")])
    folder = RunFolder(tmp_path)
    write_shard(folder, 0, checked)
    first, second = folder.replays(3)
    assert (first.task_id, first.environment, second.task_id) == ("lib/1", "library desk 1", "lib/2")
    assert [(step.failed, step.changed) for step in first.steps] == [(False, True), (False, False)]
    assert [step.failed for step in second.steps] == [True]
    for step in (*first.steps, *second.steps):
        assert len(step.response) <= 12 and step.call.removesuffix(" …") == step.call[:12]
        assert (step.more > 0) == (len(step.response) == 12)


def test_without_a_check_that_executes_there_is_nothing(tmp_path: Path) -> None:
    with Execution() as execution:
        checked = check_tasks(execution, [desk_task(lend())], (), [detector("turn-count")])
    assert checked.replays == ()
    write_shard(RunFolder(tmp_path), 0, checked)
    assert list(RunFolder(tmp_path).replays(1)) == []


def test_a_long_replay_counts_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_replay, "MOST_STEPS", 2)
    task = desk_task(*[call("find_book", book="b7")] * 5)
    with Execution() as execution:
        [replay] = check_tasks(execution, [task], (), [detector("gold-fails")]).replays
    assert (len(replay.steps), replay.more) == (2, 3)
