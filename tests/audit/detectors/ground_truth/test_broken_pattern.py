"""Tasks of a composed suite that depart from what all others with the same part do."""

from typing import Any

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import BrokenPattern
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, Finding, GroundTruth, Status, ToolCall, UserSpec
from tests.builders import make_task

LOST, FOUND = {"func_name": "lose_book", "arguments": {"book": 7}}, {"name": "find_book", "arguments": {"book": 7}}
LEAK, DRY = {"func_name": "leak", "arguments": {"room": 1}}, {"name": "dry_room", "arguments": {"room": 1}}
HERE = {"func_name": "assert_here", "arguments": {"book": 7}, "assert_value": True}


def composed(number: int, start: list[Any], gold: list[Any], *checks: Any) -> AgentTask:
    return make_task(
        f"lib/{number}",
        initial_state={"initialization_actions": start},
        ground_truth=GroundTruth(
            semantics="required", turns=(tuple(ToolCall(**each) for each in gold),), call_matching="any_order"
        ),
        evaluation=EvaluationSpec(
            checks=tuple(Check(kind="state_assertion", scored=True, expected=check) for check in checks)
        ),
    )


SUITE = [composed(i, [LOST], [FOUND], HERE) for i in range(12)] + [composed(i, [LEAK], [DRY]) for i in range(12, 40)]


def find(*tasks: AgentTask) -> list[Finding]:
    detectors = [BrokenPattern()]
    return conclude("library", [task.id for task in tasks], [check_shard(tasks, {}, detectors)], detectors)[0]


def test_another_value_in_the_gold() -> None:
    odd = composed(99, [LOST], [{"name": "find_book", "arguments": {"book": 8}}], HERE)
    (finding,) = find(*SUITE, odd)
    assert finding.task_ids == ("lib/99",) and finding.category == "incorrect-tool-call"
    assert finding.claim.startswith("All 12 other tasks with the state assertion assert_here")
    assert 'has find_book({"book": 8}) of the assistant instead' in finding.claim


def test_an_assertion_that_is_turned_round() -> None:
    (finding,) = find(*SUITE, composed(99, [LOST], [FOUND], {**HERE, "assert_value": False}))
    assert finding.task_ids == ("lib/99",) and finding.category == "unreachable-score"


def test_a_suite_that_keeps_to_its_patterns() -> None:
    assert find(*SUITE, composed(99, [LOST, LEAK], [FOUND, DRY], HERE)) == []


def test_few_tasks_and_frequent_parts_are_no_pattern() -> None:
    few = [composed(i, [LOST], [FOUND]) for i in range(4)]
    assert find(*few, composed(99, [LOST], [DRY])) == []
    everywhere = [composed(i, [LEAK], [FOUND]) for i in range(6)] + [composed(i, [LOST], [FOUND]) for i in range(6, 24)]
    assert find(*everywhere, composed(99, [LEAK], [DRY])) == []


def test_what_the_whole_suite_has_but_one_task() -> None:
    told = [
        task.model_copy(update={"user": UserSpec(kind="simulated", instruction="You are Ada Lovelace. Be brief.")})
        for task in SUITE
    ]
    odd = told[3].model_copy(
        update={"id": "lib/99", "user": UserSpec(kind="simulated", instruction="You are Ada Byron. Be brief.")}
    )
    (finding,) = find(*told, odd)
    assert finding.task_ids == ("lib/99",) and finding.category == "ambiguous-instruction"
    assert "the sentence instruction: You are Ada Lovelace." in finding.claim


def test_a_call_that_answers_a_start_action_wherever_it_can_be_answered() -> None:
    lost_for_good = [composed(i, [LOST], [{"name": "give_up", "arguments": {}}]) for i in range(50, 58)]
    suite = [*SUITE, *lost_for_good]
    assert find(*suite) == []
    (finding,) = find(*suite, composed(99, [LOST, LEAK], [DRY], HERE))
    assert finding.task_ids == ("lib/99",)
    assert "All 12 other tasks with" in finding.claim and "find_book" in finding.claim


def test_two_calls_in_the_order_of_no_other_task() -> None:
    suite = [composed(i, [LOST, LEAK], [FOUND, DRY]) for i in range(6)]
    (finding,) = find(*suite, composed(99, [LOST, LEAK], [DRY, FOUND]))
    assert finding.task_ids == ("lib/99",)
    assert finding.claim.startswith("All 6 other tasks with both make the gold call find_book")
    assert find(*suite, *(composed(i, [LOST, LEAK], [DRY, FOUND]) for i in (98, 99))) == []


def test_tasks_that_are_written_one_by_one_are_not_compared() -> None:
    (row,) = check_shard([make_task()], {}, [BrokenPattern()]).coverage
    assert row.status is Status.NOT_CHECKED and "no action prepares" in row.reason
