from pathlib import Path

import pytest

from agenthard.audit.detectors.responses import ConsensusAgainstGold
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import GroundTruth, Status, Tier, Trajectory
from tests.audit.detectors.runs.conversations import agent, audit, called, played, shop_task


def did(model: str, reason: str, passed: bool = False, trial: int = 0) -> Trajectory:
    call = called("cancel_order", "{}", order_id="#W1", reason=reason)
    return played(*call, model=model, passed=passed, trial=trial)


def test_models_that_agree_on_another_call_than_the_ground_truth() -> None:
    runs = [did(f"m{i}", "no longer needed") for i in range(7)] + [did("m7", "ordered by mistake", passed=True)]
    (finding,), _ = audit(ConsensusAgainstGold(), [shop_task()], runs)
    # Wilson, 7 of 8: (7/8 + z²/16 ± z·sqrt(7/512 + z²/256)) / (1 + z²/8)
    assert (finding.measures["low"], finding.measures["high"]) == pytest.approx((0.52911, 0.97758), abs=1e-5)
    assert finding.claim == (
        "On task t1 7 of 8 models (88%, 95 % interval 53% to 98%) make the same call, which mostly fails, against "
        "the ground truth; 1 mostly pass. Where they differ: cancel_order differs in reason "
        '("no longer needed" for "ordered by mistake").'
    )
    assert finding.tier is Tier.SIGNAL
    assert [item.pointer for item in finding.evidence] == [*["/messages/0/tool_calls/0"] * 3, "/ground_truth/turns"]


def test_doing_nothing_is_said() -> None:
    runs = [played(agent("I cannot."), model=f"m{i}") for i in range(5)]
    (finding,), _ = audit(ConsensusAgainstGold(), [shop_task()], runs)
    assert "5 of 5 models" in finding.claim and "change nothing" in finding.claim
    assert finding.claim.endswith("Where they differ: the ground truth alone calls cancel_order.")
    assert finding.evidence[0].pointer == "/score"


@pytest.mark.parametrize(
    "runs",
    [
        [did(f"m{i}", f"reason {i}") for i in range(7)],
        [did(f"m{i}", "no longer needed") for i in range(5)] + [did(f"p{i}", "x", passed=True) for i in range(4)],
        [did(f"m{i}", "ordered by mistake") for i in range(7)],
        [did(f"m{i}", "no longer needed", passed=i < 4) for i in range(7)],
        [did(f"m{i}", f"{i}{trial}", trial=trial) for i in range(7) for trial in (0, 1)],
    ],
    ids=["each its own", "too many pass", "the ground truth's own calls", "it mostly passes", "no majority of a model"],
)
def test_no_consensus_against_the_ground_truth(runs: list[Trajectory]) -> None:
    assert audit(ConsensusAgainstGold(), [shop_task()], runs)[0] == []


def test_what_is_not_checked_is_said() -> None:
    nothing = shop_task("t2").model_copy(update={"ground_truth": GroundTruth(semantics="none")})
    _, coverage = audit(ConsensusAgainstGold(), [shop_task(), nothing], [did("m1", "x")])
    assert [row.status for row in coverage] == [Status.NOT_CHECKED, Status.NOT_CHECKED]
    assert coverage[0].reason.startswith("fewer than 5 models")


@pytest.mark.long
@pytest.mark.corpora
def test_an_order_that_most_models_of_tau_bench_leave_alone(corpora: Path) -> None:
    source = open_source("tau-bench", corpora / "tau-bench_59a200c", ("retail",))
    runs = list(source.runs(corpora / "trajectories" / "tau1_retail.jsonl.gz", Quarantine()))
    findings, _ = audit(ConsensusAgainstGold(), list(source.tasks(Quarantine())), runs)
    assert {"retail/41", "retail/79"} <= {finding.task_ids[0] for finding in findings}
    assert len(findings) < 10
