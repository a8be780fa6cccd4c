from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import ConflictingGold
from agenthard.audit.detectors.support.same_task import contradiction
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Coverage, Finding, GroundTruth, Status, ToolCall
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task


def truth(*calls: ToolCall, matching: Any = "exact", **fields: Any) -> GroundTruth:
    return GroundTruth(semantics="required", turns=(calls,), call_matching=matching, **fields)


def lend(**arguments: Any) -> ToolCall:
    return ToolCall(name="lend_book", arguments=arguments)


def find(*tasks: AgentTask) -> tuple[list[Finding], list[Coverage]]:
    detectors = [ConflictingGold()]
    return conclude("library", [task.id for task in tasks], [check_shard(tasks, {}, detectors)], detectors)


NO_CALL = frozenset({"expects_no_call"})
ANY_CALL = frozenset({"expects_any_call"})


def test_excluding_golds_are_flagged_with_request_and_gold_of_both() -> None:
    findings, coverage = find(
        make_task("a", ground_truth=truth(lend(member="Ada"))),
        make_task("b", ground_truth=truth(lend(member="Ada Lovelace"))),
        make_task("c", ground_truth=truth(lend(member="Ada"), matching="any_order")),
        make_task("d", initial_state={"other": "task"}, ground_truth=truth(lend(member="Bob"))),
    )
    [finding] = findings
    assert finding.task_ids == ("a", "b", "c") and "'member'" in finding.claim
    assert [(item.task_id, item.pointer) for item in finding.evidence] == [
        ("a", "/user/turns/0/0/content"),
        ("a", "/ground_truth"),
        ("b", "/user/turns/0/0/content"),
        ("b", "/ground_truth"),
    ]
    assert [row.status for row in coverage] == [Status.FLAGGED] * 3 + [Status.CLEAN]


def test_a_call_against_no_call() -> None:
    refusing = make_task("b", ground_truth=truth(), traits=NO_CALL)
    findings, _ = find(make_task("a"), refusing)
    assert [finding.task_ids for finding in findings] == [("a", "b")]
    some_call = make_task("c", ground_truth=GroundTruth(semantics="none"), traits=ANY_CALL)
    assert [finding.task_ids for finding in find(refusing, some_call)[0]] == [("b", "c")]
    assert find(make_task("a"), some_call)[0] == []


def test_variants_of_a_base_task_may_differ() -> None:
    one = make_task("a", cluster="base/1", subtask="short", ground_truth=truth(lend(member="Ada")))
    other = make_task("b", cluster="base/1", subtask="long", ground_truth=truth(lend(member="Bob")))
    assert find(one, other)[0] == []


def test_calls_that_count_through_the_state_are_not_decided() -> None:
    one = make_task("a", ground_truth=truth(lend(member="Ada"), matching="state"))
    other = make_task("b", ground_truth=truth(lend(member="Bob"), matching="state"))
    same = make_task("c", ground_truth=truth(lend(member="Ada"), matching="state"))
    findings, coverage = find(one, other)
    assert findings == [] and [row.status for row in coverage] == [Status.NOT_CHECKED] * 2
    assert "when they are run" in coverage[0].reason
    assert [row.status for row in find(one, same)[1]] == [Status.CLEAN] * 2


def test_a_task_without_ground_truth_is_not_checked() -> None:
    assert ConflictingGold().not_applicable(make_task(ground_truth=GroundTruth(semantics="none"))) is not None
    assert ConflictingGold().not_applicable(make_task()) is None


A, B, C = lend(book=1), lend(book=2), ToolCall(name="return_book", arguments={"book": 1})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (truth(A), truth(lend(book=1.0))),
        (truth(lend(who="Ada L.")), truth(lend(who="ada l"))),
        (truth(lend(book=any_of([1, 2]))), truth(lend(book=any_of([2, 3])))),
        (truth(lend(book=any_of([1], optional=True))), truth(lend(book=any_of([2], optional=True)))),
        (truth(lend(book=1, loud=any_of([True], optional=True))), truth(A)),
        (truth(lend(list=[any_of([1, 2]), 3])), truth(lend(list=[2, 3]))),
        (truth(lend(who={"name": any_of(["Ada", "Bob"])})), truth(lend(who=any_of([{"name": "Bob"}])))),
        (truth(A, C, matching="any_order"), truth(C, A, matching="any_order")),
        (truth(lend(book=any_of([1, 2])), A, matching="any_order"), truth(A, B, matching="any_order")),
        (truth(A, matching="state"), truth(B, matching="state")),
        (truth(answers=("Ada",), matching="none"), truth(answers=("ADA.", "Bob"), matching="none")),
    ],
)
def test_golds_that_one_run_can_meet(one: GroundTruth, other: GroundTruth) -> None:
    assert contradiction(one, other, (), ()) is None
    assert contradiction(other, one, (), ()) is None


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (truth(A), truth(B), "no value of 'book'"),
        (truth(A), truth(C), "one calls 'lend_book', the other 'return_book'"),
        (truth(A), truth(A, A), "one wants 1 calls, the other 2"),
        (truth(A), truth(lend(book=True)), "no value of 'book'"),
        (truth(A), truth(lend(book="1")), "no value of 'book'"),
        (truth(lend(book=1, loud=True)), truth(A), "no value of 'loud'"),
        (truth(lend(list=[1])), truth(lend(list=[1, 2])), "no value of 'list'"),
        (truth(lend(mark="-")), truth(lend(mark="+")), "no value of 'mark'"),
        (truth(A, C), truth(C, A), "one calls 'lend_book', the other 'return_book'"),
        (truth(A, B, matching="any_order"), truth(A, A, matching="any_order"), "cannot be paired"),
        (truth(A, C, matching="any_order"), truth(A, B, matching="any_order"), "different tools"),
        (truth(answers=("Ada",), matching="none"), truth(answers=("Bob",), matching="none"), "no final answer"),
    ],
)
def test_golds_that_exclude_each_other(one: GroundTruth, other: GroundTruth, reason: str) -> None:
    assert reason in str(contradiction(one, other, (), ()))
    assert contradiction(other, one, (), ()) is not None
