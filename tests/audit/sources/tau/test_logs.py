"""Runs that name one task and were scored against another one's ground truth."""

from agenthard.audit.sources.tau.logs import gold_of, logged_gold, mismatch

A = {"action_id": "0_0", "name": "cancel", "arguments": {"id": "X"}, "requestor": "assistant"}
B = {"name": "book", "arguments": {"id": "Y", "note": None}}
GOLDS = {"d/0": gold_of([A]), "d/1": gold_of([B, A]), "d/2": ()}


def logged(*actions: dict[str, object]) -> object:
    return {"action_checks": [{"action": action, "action_match": True} for action in actions]}


def test_order_ids_and_absent_values_do_not_count() -> None:
    assert logged_gold(logged(A, B)) == GOLDS["d/1"]
    assert mismatch(logged_gold(logged(A, B)), "d/1", GOLDS) is None


def test_another_tasks_ground_truth_is_named() -> None:
    reason = mismatch(logged_gold(logged(A)), "d/1", GOLDS)
    assert reason is not None and "task d/1" in reason and "that of d/0" in reason


def test_an_unknown_ground_truth_is_said_to_be_so() -> None:
    reason = mismatch(logged_gold(logged(A, A)), "d/0", GOLDS)
    assert reason is not None and "that of no task here" in reason


def test_a_log_that_does_not_tell_is_believed() -> None:
    for info in (None, {}, {"action_checks": []}, {"action_checks": "x"}, {"reward": 1.0}):
        assert mismatch(logged_gold(info), "d/0", GOLDS) is None
    assert mismatch(logged_gold(logged(A)), "d/9", GOLDS) is None
