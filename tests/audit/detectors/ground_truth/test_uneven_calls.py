"""Numbers of gold calls that are not related as everywhere else."""

from typing import Any

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import UnevenCalls
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Finding, GroundTruth, Status, ToolCall
from tests.builders import make_task


def task(number: int, *calls: tuple[str, dict[str, Any]]) -> AgentTask:
    turn = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls)
    return make_task(f"bank/{number}", ground_truth=GroundTruth(semantics="required", turns=(turn,)))


def corrected(number: int, credit: float, difference: float, due: float = 4.0, paid: float = 3.0) -> AgentTask:
    report = {"account_id": f"acc_{number}", "amount_difference": difference, "due_rate": due, "paid_rate": paid}
    return task(number, ("credit", {"account_id": f"acc_{number}", "amount": credit}), ("report", report))


def find(*tasks: AgentTask) -> list[Finding]:
    detectors = [UnevenCalls()]
    return conclude("bank", [each.id for each in tasks], [check_shard(tasks, {}, detectors)], detectors)[0]


SOUND = [corrected(number, 10 + number, 10 + number) for number in range(6)]


def test_numbers_that_are_equal_everywhere_else() -> None:
    (finding,) = find(*SOUND, corrected(9, 30, 33))
    assert finding.task_ids == ("bank/9",)
    assert finding.claim.startswith("amount 30 and amount_difference 33: in all 6 other pairs")


def test_numbers_in_the_other_order() -> None:
    (finding,) = find(*SOUND, corrected(9, 30, 30, due=3.0, paid=4.0))
    assert (
        finding.claim
        == "due_rate 3 and paid_rate 4: in all 6 other pairs of these calls, due_rate is more than paid_rate."
    )


def test_what_is_not_a_pattern() -> None:
    assert find(*SOUND) == []
    assert find(*SOUND[:3], corrected(9, 30, 33)) == []
    assert find(*SOUND, corrected(8, 30, 33), corrected(9, 30, 34)) == []


def test_calls_without_two_numbers_are_not_compared() -> None:
    (row,) = check_shard([task(1, ("credit", {"account_id": "acc_1", "amount": 5}))], {}, [UnevenCalls()]).coverage
    assert row.status is Status.NOT_CHECKED
