"""The checks that replay ground truths."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.base import Detector
from agenthard.audit.detectors.ground_truth import (
    GoldChangesNothing,
    GoldFails,
    GoldNondeterministic,
    GoldOrder,
    GoldRedundant,
)
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask, Severity, Status
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

ALL = (GoldFails(), GoldChangesNothing(), GoldNondeterministic(), GoldRedundant(), GoldOrder())


def hits(detector: Detector, *tasks: AgentTask) -> list[Any]:
    shard = check_shard(tasks, {}, [detector])
    assert [row.reason for row in shard.coverage if row.status is Status.ERROR] == []
    return [item.hit for item in shard.hits]


def test_sound_ground_truths_give_nothing() -> None:
    task = desk_task(call("find_book", book="b7"), lend("b7"), lend("b8"))
    assert [hit for detector in ALL for hit in hits(detector, task)] == []


def test_a_failing_write() -> None:
    [alone] = hits(GoldFails(), desk_task(lend("b9", "bea")))
    assert alone.severity is Severity.AFFECTS_SCORE
    assert "lacks it, and a run that changes nothing has the right final state" in alone.claim
    [handed_over] = hits(GoldFails(), desk_task(lend("b9", "bea"), call("transfer_to_human_agents")))
    assert handed_over.severity is Severity.MAY_AFFECT_SCORE
    [beside] = hits(GoldFails(), desk_task(lend("b9", "bea"), lend("b7")))
    assert beside.severity is Severity.AFFECTS_SCORE
    assert "changes nothing" not in beside.claim
    [again] = hits(GoldFails(), desk_task(lend("b9", "bea"), lend("b8", "bea")))
    assert again.severity is Severity.COSMETIC


def test_a_failing_read_is_a_probe_where_the_user_gives_the_value() -> None:
    missing = call("find_book", book="B-77")
    [hit] = hits(GoldFails(), desk_task(missing, lend()))
    assert hit.severity is Severity.COSMETIC
    [scored] = hits(GoldFails(), desk_task(missing, lend(), traits=frozenset()))
    assert scored.severity is Severity.AFFECTS_SCORE
    assert hits(GoldFails(), desk_task(missing, lend(), says="Lend me #b77.")) == []


def test_the_same_failure_in_two_tasks_has_one_cause() -> None:
    wrong, right = lend("b9", "bea"), lend("b7")
    one, two, alone = hits(
        GoldFails(), desk_task(wrong, right), desk_task(wrong, right, id="lib/2"), desk_task(wrong, id="lib/3")
    )
    assert one.cause == two.cause != alone.cause


def test_a_write_without_effect() -> None:
    again = lend("b9", "ada")
    [idle] = hits(GoldChangesNothing(), desk_task(again, lend("b7")))
    assert idle.severity is None
    [vain] = hits(GoldChangesNothing(), desk_task(again))
    assert vain.severity is Severity.AFFECTS_SCORE


def test_chance_is_seen() -> None:
    [hit] = hits(GoldNondeterministic(), desk_task(lend(), call("draw_ticket")))
    assert "draw_ticket gives another state" in hit.claim


def test_needless_calls_and_orders() -> None:
    notes = desk_task(call("leave_note", text="one"), call("leave_note", text="two"), cluster="notes")
    [hit] = hits(GoldRedundant(), notes)
    assert "changed again later" in hit.claim
    assert hit.cause.startswith("notes")
    assert len(hits(GoldOrder(), notes)) == 1


def test_errors_and_tasks_without_environment() -> None:
    broken, foreign = desk_task(call("break_down")), desk_task(lend(), benchmark="museum", id="lib/2")
    for detector in ALL:
        first, second = check_shard([broken, foreign], {}, [detector]).coverage
        assert (first.status, second.status) == (Status.ERROR, Status.NOT_CHECKED)
        assert "broke down" in first.reason
        assert "no environment is registered for museum" in second.reason


@pytest.mark.long
@pytest.mark.corpora
def test_tau(corpora: Path) -> None:
    for source, failing, idle in (
        (TauBench(corpora / "tau-bench_59a200c"), {2, 3, 4, 12, 13, 64, 106}, 111),
        (Tau2Bench(corpora / "tau2-bench_v0.1.3"), {2, 3, 4, 12, 13, 64, 105}, 110),
    ):
        tasks = list(source.tasks(Quarantine()))
        found = check_shard(tasks, {}, [GoldFails()])
        flagged = {row.task_id for row in found.coverage if row.status is Status.FLAGGED}
        assert flagged == {f"retail/{number}" for number in failing}
        worst = [item.task_ids for item in found.hits if item.hit.severity is Severity.AFFECTS_SCORE]
        assert worst == [(f"retail/{max(failing)}",)]
        still = check_shard(tasks, {}, [GoldChangesNothing()])
        assert [item.task_ids for item in still.hits] == [(f"retail/{idle}",)]
        assert check_shard(tasks, {}, [GoldNondeterministic()]).hits == ()
        assert check_shard(tasks, {}, [GoldRedundant()]).hits == ()
