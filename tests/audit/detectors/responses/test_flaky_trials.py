from pathlib import Path

import pytest

from agenthard.audit.detectors.responses import FlakyTrials
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import Status, Tier, Trajectory
from tests.audit.detectors.runs.conversations import audit, played, shop_task


def trials(task: str, model: str, verdicts: str, simulator: str = "sim") -> list[Trajectory]:
    return [
        played(task_id=task, model=model, passed=verdict == "+", trial=i, simulator=simulator)
        for i, verdict in enumerate(verdicts)
    ]


MODELS = ("m1", "m2", "m3")
STEADY = [run for task, verdicts in (("t2", "++"), ("t3", "--")) for m in MODELS for run in trials(task, m, verdicts)]


def test_a_task_on_which_every_model_is_a_coin_flip() -> None:
    runs = STEADY + [run for model in MODELS for run in trials("t1", model, "+-")]
    (finding,), coverage = audit(FlakyTrials(), [shop_task(f"t{i}") for i in (1, 2, 3)], runs)
    # All three models disagree, so each counts as one trial: Wilson, 3 of 3, from 3/(3 + z²) to 1
    assert (finding.measures["low"], finding.measures["high"]) == pytest.approx((0.43850, 1.0), abs=1e-5)
    assert finding.claim == (
        "Trials of one model disagree on task t1 in 3 of 3 pairs (100%, 95 % interval 44% to 100%), where 0% are "
        "expected from the same models' other tasks; 3 of 3 models both pass and fail it."
    )
    assert (finding.tier, finding.measures["entropy"]) == (Tier.SIGNAL, 1.0)
    assert [item.quote for item in finding.evidence] == ["1.0", "0.0"]
    assert [row.status for row in coverage] == [Status.FLAGGED, Status.CLEAN, Status.CLEAN]


@pytest.mark.parametrize(
    "runs",
    [
        [*trials("t1", "m1", "++"), *trials("t1", "m2", "--"), *trials("t1", "m3", "--")],
        [*trials("t1", "m1", "+-+-+-"), *trials("t1", "m2", "--"), *trials("t1", "m3", "--")],
    ],
    ids=["models differ, trials do not", "one model alone"],
)
def test_a_task_that_does_not_stand_out(runs: list[Trajectory]) -> None:
    assert audit(FlakyTrials(), [shop_task(f"t{i}") for i in (1, 2, 3)], STEADY + runs)[0] == []


def test_as_flaky_as_everywhere_else() -> None:
    runs = [run for i in (1, 2, 3) for model in MODELS for run in trials(f"t{i}", model, "+-")]
    assert audit(FlakyTrials(), [shop_task(f"t{i}") for i in (1, 2, 3)], runs)[0] == []


def test_trials_with_another_simulator_are_no_repetition() -> None:
    played_by = [(model, simulator, verdict) for model in MODELS for simulator, verdict in (("a", "+"), ("b", "-"))]
    runs = [run for model, simulator, verdict in played_by for run in trials("t1", model, verdict, simulator)]
    findings, (row,) = audit(FlakyTrials(), [shop_task()], runs)
    assert findings == []
    assert (row.status, row.reason) == (Status.NOT_CHECKED, "fewer than 3 models with repeated scored trials")


@pytest.mark.corpora
def test_tasks_of_tau2_airline_that_are_coin_flips(corpora: Path) -> None:
    source = open_source("tau2", corpora / "tau2-bench_v0.1.3", ("airline",))
    runs = list(source.runs(corpora / "trajectories" / "tau2_airline.jsonl.gz", Quarantine()))
    findings, _ = audit(FlakyTrials(), list(source.tasks(Quarantine())), runs)
    assert 1 <= len(findings) <= 10
    assert all(finding.measures["low"] > finding.measures["expected"] for finding in findings)
