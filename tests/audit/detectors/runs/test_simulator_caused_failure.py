from collections import Counter
from pathlib import Path

import pytest

from agenthard.audit.detectors.runs import SimulatorCausedFailure
from agenthard.audit.detectors.support.simulator import faults
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import GroundTruth, Message, Status
from tests.audit.detectors.runs.conversations import agent, audit, called, played, shop_task, user

WISH = user("Hi, please cancel my order #W1.")
SHALL_I = agent("Order #W1 will be cancelled. Would you like to proceed?")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ((WISH, SHALL_I, user("Yes, please proceed. Thank you! ###STOP###")), "agreed"),
        ((WISH, SHALL_I, user("Yes.###STOP###")), "agreed"),
        ((WISH, SHALL_I, user("No, keep it. ###STOP###")), None),
        ((WISH, SHALL_I, user("Please transfer me to a human agent, go ahead. ###TRANSFER###")), None),
        ((WISH, agent("It cannot be cancelled."), user("Go ahead. ###STOP###")), None),
        ((WISH, SHALL_I, user("Which one is that? ###STOP###")), "asked"),
        ((user("Please cancel #W1. ###STOP###"),), "asked"),
        ((WISH, agent("What is your name?"), user("###OUT-OF-SCOPE###")), "out_of_scope"),
        ((WISH, agent("It cannot be cancelled."), user("###OUT-OF-SCOPE###")), None),
        ((WISH, SHALL_I, user("<think>Then ###STOP###.</think> Yes, and also #W2.")), "thought"),
        ((WISH, SHALL_I, user("Yes, please proceed.")), None),
    ],
)
def test_how_a_user_ends_a_run_too_early(said: tuple[Message, ...], kind: str | None) -> None:
    assert [fault.kind for fault in faults(shop_task(), played(*said))] == ([kind] if kind else [])


def test_a_user_may_stop_once_all_is_done() -> None:
    done = called("cancel_order", "{}", order_id="#W1", reason="ordered by mistake")
    run = played(WISH, *done, SHALL_I, user("Yes, please proceed. ###STOP###"))
    assert list(faults(shop_task(), run)) == []


def test_an_identifier_that_only_the_user_can_have_made_up() -> None:
    lost = called("get_order", "Error: not found", email="ann@mail.example")
    found = called("get_order", '{"order_id": "#W1"}', person="Ann")
    said = user("My email is ann@mail.example.")
    (fault,) = faults(shop_task(), played(WISH, said, *lost))
    assert (fault.kind, fault.pointer, fault.quote) == ("invented", "/messages/1/content", "ann@mail.example")
    told = shop_task(instruction="You are ann@mail.example. Cancel order #W1.")
    assert list(faults(told, played(WISH, said, *lost))) == []
    assert list(faults(shop_task(reason="x", order_id="#W1234"), played(WISH, said, *found))) == []
    reached = called("get_order", '{"order_id": "#W1234"}', person="Ann")
    assert list(faults(shop_task(reason="x", order_id="#W1234"), played(WISH, said, *lost, *reached))) == []


def test_a_phrase_of_the_instruction_that_the_user_never_says() -> None:
    told = shop_task(instruction="Cancel order #W1, if asked say it was ordered by mistake.")
    other = called("cancel_order", "{}", order_id="#W1", reason="no longer needed")
    (fault,) = faults(told, played(WISH, *other))
    assert (fault.kind, fault.pointer) == ("withheld", "/messages/1/tool_calls/0/arguments/reason")
    assert list(faults(told, played(user("#W1 was ordered by mistake."), *other))) == []
    assert list(faults(shop_task(), played(WISH, *other))) == []


def test_findings_per_simulator_and_for_a_task_that_stands_out() -> None:
    hung_up = (WISH, SHALL_I, user("Yes.###STOP###"))
    failed = (WISH, agent("I will not."), user("Bye. ###STOP###"))
    runs = [played(*hung_up, model=model) for model in ("m1", "m2", "m3")]
    runs += [played(*failed, task_id=f"t{i}") for i in range(2, 9)] + [played(*failed, task_id="t2", simulator="other")]
    runs += [played(*hung_up, model="m4", passed=True)]
    findings, coverage = audit(SimulatorCausedFailure(), [shop_task(f"t{i}") for i in range(1, 9)], runs)
    of_task, of_simulator = sorted(findings, key=lambda finding: -len(finding.task_ids))
    assert of_simulator.claim.startswith("The simulated user sim decides 3 of 10 failed runs (30.0%")
    assert (of_simulator.task_ids, of_simulator.also_in) == ((), ("t1",))
    assert of_task.task_ids == ("t1",)
    assert "decides 3 of 3 failed runs" in of_task.claim
    assert "Agents: m1 (1), m2 (1), m3 (1). Simulators: sim (3)." in of_task.claim
    assert {row.status for row in coverage} == {Status.FLAGGED, Status.CLEAN}


def test_what_is_not_checked_is_said() -> None:
    nothing = shop_task("t2").model_copy(update={"ground_truth": GroundTruth(semantics="none")})
    _, coverage = audit(SimulatorCausedFailure(), [shop_task(), nothing], [played(WISH, passed=True)])
    assert [row.reason for row in coverage] == [
        "no run of this task failed",
        "the ground truth holds no call that a run could lack",
    ]


@pytest.mark.corpora
def test_how_often_users_of_tau_bench_hang_up_on_a_proposal(corpora: Path) -> None:
    source = open_source("tau-bench", corpora / "tau-bench_59a200c", ("airline",))
    tasks = {task.id: task for task in source.tasks(Quarantine())}
    runs = source.runs(corpora / "trajectories" / "tau1_airline.jsonl.gz", Quarantine())
    kinds = Counter(fault.kind for run in runs if run.passed is False for fault in faults(tasks[run.task_id], run))
    assert set(kinds) == {"agreed"} and 1 <= kinds["agreed"] < 20
