from pathlib import Path

import pytest

from agenthard.audit.detectors.evaluation import RejectedReading
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, Message, Severity, Status, Tier, Trajectory
from tests.audit.detectors.runs.conversations import audit
from tests.audit.execution.policy.conftest import booked, call, make_task

TABLES = {
    "flights": {},
    "users": {"ada_1": {"reservations": ["R1", "R2"], "payment_methods": {}}},
    "reservations": {name: booked(name, "ada_1", "business") for name in ("R1", "R2")},
}
RULED = "You may not cancel a reservation."


def task(*reservations: str, policy: str = "Be kind.") -> AgentTask:
    gold = [call("cancel_reservation", reservation_id=name) for name in reservations]
    made = make_task("airline", TABLES, gold, said="I am ada_1. Cancel my reservation.", rules=policy)
    tools = ({"name": "cancel_reservation", "effect": "write", "parameters": {"type": "object"}},)
    check = {"kind": "final_state", "scored": True, "pointer": "/ground_truth/turns/0"}
    values = made.model_dump() | {"evaluation": {"checks": [check]}}
    return AgentTask.model_validate(values | {"environment": values["environment"] | {"tools": tools}})


def run(model: str, *reservations: str, passed: bool = False) -> Trajectory:
    messages = []
    for name in reservations:
        made = call("cancel_reservation", reservation_id=name).model_copy(update={"id": name})
        messages.append(Message(role="assistant", content="", tool_calls=(made,)))
        messages.append(Message(role="tool", content="{}", tool_call_id=name))
    messages.append(Message(role="user", content="###STOP###"))
    return Trajectory(
        id=f"{model}/0", task_id="airline/0", model=model, status="ok", passed=passed, messages=tuple(messages)
    )


def runs(*, other: int, gold: int) -> list[Trajectory]:
    return [run(f"a{n}", "R2") for n in range(other)] + [run(f"b{n}", "R1", passed=True) for n in range(gold)]


def test_models_that_take_another_reading_which_replays() -> None:
    [finding], _ = audit(RejectedReading(), [task("R1")], runs(other=3, gold=4))
    assert (finding.category, finding.tier, finding.severity) == (
        "ambiguous-instruction",
        Tier.SUSPECTED,
        Severity.AFFECTS_SCORE,
    )
    assert finding.claim == (
        "3 models make the same 1 changes, which replay and break no known rule of the policy, and the evaluator "
        "rejects them; 4 end where the ground truth does."
    )
    assert '/reservations/R2/status: null → "cancelled"' in finding.why
    assert "The evaluator rejects it" in finding.why and "The evaluator accepts it" in finding.why
    assert finding.proof is not None and finding.proof.should_pass and not finding.proof.passes
    assert [item.pointer for item in finding.evidence] == ["/user/instruction", "/ground_truth/turns"]


def test_where_hardly_any_model_reaches_the_ground_truth_it_is_wrong() -> None:
    [finding], _ = audit(RejectedReading(), [task("R1")], runs(other=4, gold=1))
    assert finding.category == "incorrect-tool-call"


@pytest.mark.parametrize(
    ("gold", "recorded"),
    [
        (("R1",), runs(other=2, gold=4)),  # two models err by chance
        (("R1",), runs(other=3, gold=8)),  # three of eleven are models that err
        (("R1", "R2"), runs(other=3, gold=3)),  # half of what the ground truth does
        (("R1",), [run(f"a{n}", "R9") for n in range(5)]),  # refused: nothing changes
        (("R1",), [run(f"a{n}") for n in range(5)]),
        (("R1",), []),
    ],
)
def test_what_is_no_reading(gold: tuple[str, ...], recorded: list[Trajectory]) -> None:
    findings, [row] = audit(RejectedReading(), [task(*gold)], recorded)
    assert findings == [] and row.status is Status.CLEAN


def test_compared_calls_are_not_looked_at() -> None:
    one = task("R1")
    compared = one.model_copy(update={"ground_truth": one.ground_truth.model_copy(update={"call_matching": "exact"})})
    _, [row] = audit(RejectedReading(), [compared], [])
    assert row.status is Status.NOT_CHECKED and row.reason.startswith("calls are compared")


@pytest.mark.long
@pytest.mark.corpora
def test_readings_of_models_in_tau2_airline(corpora: Path) -> None:
    source = open_source("tau2", corpora / "tau2-bench_v0.1.3", ("airline",))
    recorded = list(source.runs(corpora / "trajectories" / "tau2_airline.jsonl.gz", Quarantine()))
    findings, _ = audit(RejectedReading(), list(source.tasks(Quarantine())), recorded)
    found = {task_id for finding in findings for task_id in finding.task_ids}
    assert {"airline/12", "airline/15", "airline/16", "airline/32"} <= found
    assert len(findings) < 15
    assert all(finding.proof for finding in findings)
