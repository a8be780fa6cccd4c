"""Readings carried out by the benchmarks' own code and data."""

import json
from pathlib import Path

import pytest

from agenthard.audit.execution.mutation.mutants import copied_and_removed
from agenthard.audit.judge.verdict import WrittenCall, WrittenReading
from agenthard.audit.judge.verify.readings import carried_out
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import ToolCall
from tests.audit.judge.saying import gated, says
from tests.corpora import tasks_of

pytestmark = pytest.mark.corpora


def written(turns: list[list[ToolCall]], meaning: str) -> WrittenReading:
    calls = tuple(
        WrittenCall(turn=number, tool=call.name, requestor="assistant", arguments=json.dumps(call.arguments))
        for number, turn in enumerate(turns)
        for call in turn
    )
    return WrittenReading(meaning=meaning, right=True, calls=calls, says=())


@pytest.mark.long
def test_bfcl_rejects_a_file_that_is_copied_and_removed_instead_of_moved(corpora: Path) -> None:
    for task in tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17", ("multi_turn_base",)):
        turns = [list(turn) for turn in task.ground_truth.turns]
        places = (
            (i, j) for i, turn in enumerate(turns) for j, call in enumerate(turn) if copied_and_removed(task, call)
        )
        place = next(places, None)
        if place is None:
            continue
        i, j = place
        turns[i][j : j + 1] = copied_and_removed(task, turns[i][j])
        moved = (f"/ground_truth/turns/{i}/{j}", "mv")
        issue = gated(task, says("too-strict", "Copying and removing is as good.", moved, readings=()))
        told = issue.issue.model_copy(update={"readings": (written(turns, "cp and rm in place of mv"),)})
        found = carried_out(task, issue.model_copy(update={"issue": told, "standing": "verified"}))
        assert found.readings is not None and found.readings.standing == "holds", found.reason
        one, gold = found.readings.trials
        assert (one.passed, gold.passed, one.defect) == (False, True, "")
        assert one.final == gold.final, "the state is the same, and the evaluator wants the response of mv"
        return
    raise AssertionError("no task moves a file")


def test_a_reading_that_breaks_the_policy_of_tau2_is_withdrawn(corpora: Path) -> None:
    """Airline 48: models cancel a basic economy reservation, which the policy does not allow."""
    tasks = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3", ("airline",))
    task = next(task for task in tasks if task.id == "airline/48")
    cancel = [[ToolCall(name="cancel_reservation", arguments={"reservation_id": "3RK2T9"})]]
    said = ("/user/instruction", "cancel")
    issue = gated(task, says("ambiguous-instruction", "It can be cancelled.", said))
    told = issue.issue.model_copy(update={"readings": (written(cancel, "cancel"),)})
    found = carried_out(task, issue.model_copy(update={"issue": told, "standing": "verified"}))
    assert found.standing == "refuted"
    assert found.reason.startswith("reading A breaks the policy: cancelled-for-a-listed-reason: It cancels 3RK2T9")
