"""Models that make the ground truth's calls and lack one required text."""

import pytest

from agenthard.audit.detectors.responses import SameMissingText
from agenthard.taxonomy import AgentTask, Status, Tier, Trajectory
from tests.audit.detectors.runs.conversations import agent, audit, called, played, shop_task


def task_with(*outputs: str) -> AgentTask:
    task = shop_task()
    return task.model_copy(update={"ground_truth": task.ground_truth.model_copy(update={"outputs": outputs})})


def did(model: str, says: str, passed: bool = False, reason: str = "ordered by mistake") -> Trajectory:
    calls = called("cancel_order", "{}", order_id="#W1", reason=reason)
    return played(*calls, agent(says), model=model, passed=passed)


def test_models_that_lack_one_text() -> None:
    runs = [did(f"m{i}", "You get back $1,093.43.") for i in range(5)]
    runs += [did("p0", "You get back 1,093.34.", passed=True), did("m9", "Done.", reason="other")]
    (finding,), _ = audit(SameMissingText(), [task_with("1093.34")], runs)
    assert finding.claim == (
        "On task t1 5 of 7 models (71%, 95 % interval 36% to 92%) mostly make the calls of the ground truth, and fail "
        "for the one text '1093.34' that their replies lack; 1 mostly pass."
    )
    assert finding.tier is Tier.SIGNAL
    assert [item.pointer for item in finding.evidence] == ["/score"] * 3 + ["/ground_truth/outputs/0"]


@pytest.mark.parametrize(
    "runs",
    [
        [did(f"m{i}", "Done.") for i in range(5)] + [did(f"p{i}", "4", passed=True) for i in range(5)],
        [did(f"m{i}", "Done.") for i in range(4)] + [did("p", "4", passed=True)],
        [did(f"m{i}", "Done.", reason="no longer needed") for i in range(5)],
        [did(f"m{i}", "It is 4, in blue.") for i in range(5)],
    ],
    ids=["as many pass", "too few", "another call too", "no text is lacking"],
)
def test_other_failures(runs: list[Trajectory]) -> None:
    assert audit(SameMissingText(), [task_with("4")], runs)[0] == []


def test_two_missing_texts_are_not_one() -> None:
    assert audit(SameMissingText(), [task_with("4", "blue")], [did(f"m{i}", "Done.") for i in range(5)])[0] == []


def test_what_is_not_checked_is_said() -> None:
    _, coverage = audit(SameMissingText(), [shop_task()], [did("m1", "x")])
    assert [row.status for row in coverage] == [Status.NOT_CHECKED]
    assert coverage[0].reason == "no text is required"
