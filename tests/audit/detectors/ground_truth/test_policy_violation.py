from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import PolicyViolation
from agenthard.audit.evidence import failure
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, EnvironmentSpec, Severity, Status, Tier, ToolCall, UserSpec
from tests.builders import make_task

FLOWN = "If any portion of the flight has already been flown, the agent cannot help and transfer is needed."
FREE = "Each extra baggage is 50 dollars."
BAGS = "If the booking user is a gold member, 1 free checked bag for each economy passenger."
COVERED = (
    "Otherwise, flight can be cancelled if any of the following is true:\n- The booking was made within the last 24 hrs"
    "\n- The flight is cancelled by airline\n- It is a business flight\n"
    "- The user has travel insurance and the reason for cancellation is covered by insurance."
)
POLICY = f"The current time is 2024-05-15 15:00:00 EST.\n{FLOWN}\n{COVERED}\n{BAGS} {FREE}"
TABLES: dict[str, Any] = {
    "flights": {
        "F1": {
            "flight_number": "F1",
            "origin": "AAA",
            "destination": "BBB",
            "dates": {"2024-05-14": {"status": "landed"}, "2024-05-20": {"status": "on time"}},
        }
    },
    "reservations": {
        key: {
            "reservation_id": key,
            "user_id": "gil",
            "cabin": cabin,
            "flights": [{"flight_number": "F1", "date": date, "price": 80, "origin": "AAA", "destination": "BBB"}],
            "passengers": [{"first_name": "Gil", "last_name": "Ode"}],
            "payment_history": [],
            "created_at": "2024-05-02T03:10:19",
            "insurance": "yes",
            "total_baggages": 0,
            "nonfree_baggages": 0,
        }
        for key, cabin, date in (("GONE", "business", "2024-05-14"), ("SOON", "economy", "2024-05-20"))
    },
    "users": {
        "gil": {
            "membership": "gold",
            "payment_methods": {"gift": {"source": "gift_card", "id": "gift", "amount": 10}},
            "reservations": ["GONE", "SOON"],
        }
    },
}


def task(*calls: ToolCall, said: str = "Cancel it.", policy: str = POLICY, **changes: Any) -> AgentTask:
    base = make_task(
        "airline/0",
        benchmark="tau2",
        subtask="airline",
        user=UserSpec(kind="simulated", instruction=said),
        environment=EnvironmentSpec(policy=policy, state=TABLES),
    )
    truth = base.ground_truth.model_copy(update={"turns": (calls,), "call_matching": "state"})
    return base.model_copy(update={"ground_truth": truth, **changes})


def hits(subject: AgentTask) -> list[Hit]:
    assert PolicyViolation().not_applicable(subject) is None
    found = list(PolicyViolation().inspect(subject))
    assert all(failure(item, subject, {}) is None for hit in found for item in hit.evidence)
    return found


def cancel(key: str) -> ToolCall:
    return ToolCall(name="cancel_reservation", arguments={"reservation_id": key})


def bags(total: int, paid: int) -> ToolCall:
    given = {"reservation_id": "SOON", "total_baggages": total, "nonfree_baggages": paid, "payment_id": "gift"}
    return ToolCall(name="update_reservation_baggages", arguments=given)


HAND_OVER = ToolCall(name="transfer_to_human_agents", arguments={"summary": "It cannot be done."})


def test_a_flown_reservation_that_is_cancelled() -> None:
    [hit] = hits(task(cancel("GONE")))
    assert hit.claim == "The ground truth cancels reservation GONE, of which F1 on 2024-05-14 has been flown."
    assert [item.pointer for item in hit.evidence] == [
        "/ground_truth/turns/0/0",
        "/environment/policy",
        "/environment/state/flights/F1/dates/2024-05-14/status",
    ]
    assert hit.evidence[1].quote == FLOWN
    assert (hit.severity, hit.tier) == (None, None)


def test_a_violation_that_rests_on_silence_is_suspected() -> None:
    [hit] = hits(task(cancel("SOON")))
    assert hit.tier is Tier.SUSPECTED and hit.claim.endswith("the user speaks neither of health nor of weather.")


def test_a_call_that_the_tool_refuses_changes_nothing() -> None:
    refused = bags(3, 3)  # 150 dollars, and the gift card holds 10
    [alone] = hits(task(refused))
    assert alone.severity is Severity.MAY_AFFECT_SCORE and alone.claim.endswith(
        "refuses it: Gift card balance is not enough"
    )
    [handed] = hits(task(refused, HAND_OVER))
    [again] = hits(task(refused, bags(1, 0)))
    assert handed.severity is again.severity is Severity.COSMETIC


def test_each_call_is_a_finding_of_its_own() -> None:
    first, second = hits(task(cancel("GONE"), bags(1, 1)))
    assert first.cause != second.cause


def test_a_ground_truth_that_keeps_to_the_policy() -> None:
    assert hits(task(bags(1, 0))) == []


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (task(), "no calls"),
        (task(cancel("GONE"), policy="Be kind."), "no rule is written"),
        (task(cancel("GONE"), benchmark="unheard-of"), "no environment is registered"),
        (task(cancel("GONE"), initial_state={"flights": {}}), "state of its own"),
        (task(HAND_OVER), "no rule looks at"),
        (task(cancel("SOON"), said="I am sick."), "cancelled-for-a-listed-reason: whether the insurance of SOON"),
        (task(cancel("NONE")), "no 'NONE' among the reservations"),
    ],
)
def test_not_checked(subject: AgentTask, reason: str) -> None:
    assert reason in (PolicyViolation().not_applicable(subject) or "")


CORPORA = [
    ("tau2", "tau2-bench_v0.1.3", "airline", {2, 7, 9, 27, 29, 33, 37, 38, 39, 44}, set()),
    ("tau-bench", "tau-bench_59a200c", "airline", {10, 16, 19, 23, 26, 27, 28, 31, 33, 34, 45, 46}, set()),
    ("tau2", "tau2-bench_v0.1.3", "retail", {12, 13, 18, 64, 91, 105, 107}, {12, 13, 64}),
    ("tau-bench", "tau-bench_59a200c", "retail", {12, 13, 18, 64, 91, 106, 108}, {12, 13, 64}),
]


@pytest.mark.corpora
@pytest.mark.parametrize(("name", "folder", "domain", "flagged", "cosmetic"), CORPORA)
def test_corpora(corpora: Path, name: str, folder: str, domain: str, flagged: set[int], cosmetic: set[int]) -> None:
    source = open_source(name, corpora / folder, (domain,))
    tasks = [task for task in source.tasks(Quarantine()) if task.subtask == domain]
    result = check_shard(tasks, {}, [PolicyViolation()])
    assert [row for row in result.coverage if row.status is Status.ERROR] == []
    found = {row.task_id for row in result.coverage if row.status is Status.FLAGGED}
    assert found == {f"{domain}/{number}" for number in flagged}
    mild = {item.task_ids[0] for item in result.hits if item.hit.severity is Severity.COSMETIC}
    assert mild == {f"{domain}/{number}" for number in cosmetic}
    unsure = [row.task_id for row in result.coverage if "is left to a reader" in row.reason]
    assert len(unsure) == (1 if domain == "airline" else 0)
