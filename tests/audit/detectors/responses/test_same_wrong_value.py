"""Models that fail by the same value of one argument."""

import pytest

from agenthard.audit.detectors.responses import SameWrongValue
from agenthard.taxonomy import GroundTruth, Status, Tier, Trajectory
from tests.audit.detectors.runs.conversations import agent, audit, called, played, shop_task


def did(model: str, reason: str, passed: bool = False, more: str | None = None) -> Trajectory:
    calls = list(called("cancel_order", "{}", order_id="#W1", reason=reason))
    if more is not None:
        calls += called("cancel_order", "{}", order_id=more, reason=more)
    return played(*calls, model=model, passed=passed)


def test_models_that_agree_on_another_value() -> None:
    # each does something else besides, so that the runs have nothing in common as a whole
    runs = [did(f"m{i}", "no longer needed", more=f"#W{i + 2}") for i in range(4)]
    runs += [did(f"p{i}", "ordered by mistake", passed=True) for i in range(3)]
    (finding,), _ = audit(SameWrongValue(), [shop_task()], runs)
    assert finding.claim == (
        'On task t1 4 of 7 models (57%, 95 % interval 25% to 84%) mostly fail with reason = "no longer needed" in a '
        "call of cancel_order that is otherwise the ground truth's; 3 mostly pass."
    )
    assert finding.tier is Tier.SIGNAL
    assert [item.pointer for item in finding.evidence] == [*["/messages/0/tool_calls/0"] * 3, "/ground_truth/turns"]


@pytest.mark.parametrize(
    "runs",
    [
        [did(f"m{i}", f"reason {i}") for i in range(7)],
        [did(f"m{i}", "no longer needed") for i in range(4)] + [did(f"p{i}", "x", passed=True) for i in range(4)],
        [did(f"m{i}", "ordered by mistake") for i in range(7)],
        [played(agent("I cannot."), model=f"m{i}") for i in range(7)],
    ],
    ids=["each its own", "as many pass", "the ground truth's own call", "no call"],
)
def test_no_common_value(runs: list[Trajectory]) -> None:
    assert audit(SameWrongValue(), [shop_task()], runs)[0] == []


def test_what_is_not_checked_is_said() -> None:
    nothing = shop_task("t2").model_copy(update={"ground_truth": GroundTruth(semantics="none")})
    _, coverage = audit(SameWrongValue(), [shop_task(), nothing], [did("m1", "x")])
    assert [row.status for row in coverage] == [Status.NOT_CHECKED, Status.NOT_CHECKED]
