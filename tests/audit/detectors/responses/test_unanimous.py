import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.responses import AllFail, AllPass, FewPass
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Status,
    Tier,
    Trajectory,
    UserSpec,
)

MODELS = ("m1", "m2", "m3", "m4", "m5")


def task(name: str) -> AgentTask:
    return AgentTask(
        id=name,
        native_id=name,
        benchmark="tiny",
        user=UserSpec(kind="simulated", instruction="Hello"),
        environment=EnvironmentSpec(),
        evaluation=EvaluationSpec(),
        ground_truth=GroundTruth(semantics="none"),
    )


def run(task_id, model, passed, trial=0, status="ok") -> Trajectory:
    score = None if passed is None else float(passed)
    return Trajectory(
        id=f"{task_id}/{model}/{trial}",
        task_id=task_id,
        model=model,
        trial=trial,
        passed=passed,
        score=score,
        status=status,
    )


def audit(detector, runs):
    names = list(dict.fromkeys(item.task_id for item in runs))
    by_task = {name: [item for item in runs if item.task_id == name] for name in names}
    shards = [check_shard([task(name)], by_task, [detector]) for name in names]
    findings, coverage = conclude("tiny", names, shards, [detector])
    return findings, {row.task_id: (row.status, row.reason) for row in coverage}


def everyone(task_id, passed):
    return [run(task_id, model, passed) for model in MODELS]


def test_a_task_that_all_five_models_fail_is_flagged():
    findings, _ = audit(AllFail(), everyone("bad", False) + everyone("good", True))
    (finding,) = findings
    assert finding.task_ids == ("bad",)
    assert finding.tier is Tier.SIGNAL
    assert (finding.measures["models"], finding.measures["runs"], finding.measures["low"]) == (5, 5, 0)
    # Wilson, 0 of 5: z² / (5 + z²) = 3.8415 / 8.8415
    assert finding.measures["high"] == pytest.approx(0.43449, abs=1e-5)
    assert [item.quote for item in finding.evidence] == ["0.0", "0.0", "0.0"]


def test_chance_is_the_product_over_models_of_their_rates_elsewhere():
    # On the other two tasks every model passes one, so each fails a task like them with probability 1/2.
    runs = everyone("bad", False) + everyone("x", True) + everyone("y", False)
    findings, _ = audit(AllFail(), runs)
    assert {item.task_ids[0]: item.measures["chance"] for item in findings} == {
        "bad": pytest.approx(1 / 32),
        "y": pytest.approx(1 / 32),
    }
    (passed,), _ = audit(AllPass(), runs)
    assert passed.measures["chance"] == 0  # no model passes either of the other tasks


def test_one_pass_in_one_trial_clears_the_task():
    runs = everyone("t", False) + [run("t", "m1", True, trial=1)]
    assert audit(AllFail(), runs) == ([], {"t": (Status.CLEAN, "")})


def test_an_infrastructure_error_is_no_failure():
    crashed = [run("t", "m6", None, status="infrastructure_error")]
    (finding,), _ = audit(AllPass(), everyone("t", True) + crashed)
    assert (finding.measures["models"], finding.measures["unscored_runs"]) == (5, 1)
    runs = everyone("t", False)[:4] + [run("t", "m5", None, status="infrastructure_error")]
    assert audit(AllFail(), runs) == (
        [],
        {"t": (Status.NOT_CHECKED, "4 models with a scored run; at least 5 are needed")},
    )


def test_an_end_that_is_the_agents_doing_is_a_failure():
    runs = everyone("t", False)[:4] + [run("t", "m5", False, status="agent_error")]
    (finding,), _ = audit(AllFail(), runs)
    assert finding.measures["models"] == 5


def test_repeated_trials_do_not_replace_models():
    runs = [run("t", "m1", False, trial=k) for k in range(20)]
    _, statuses = audit(AllFail(), runs)
    assert statuses == {"t": (Status.NOT_CHECKED, "1 models with a scored run; at least 5 are needed")}


def test_quotes_come_from_different_models():
    runs = [run("t", model, True, trial=k) for model in MODELS for k in range(4)]
    (finding,), _ = audit(AllPass(), runs)
    assert [item.trajectory_id for item in finding.evidence] == ["t/m1/0", "t/m2/0", "t/m3/0"]
    assert finding.measures["runs"] == 20


def _many(task_id, passing, models=12):
    return [run(task_id, f"m{i}", i < passing) for i in range(models)]


def test_a_task_that_hardly_any_of_twelve_models_passes_is_flagged():
    others = [item for name in "abcd" for item in _many(name, 9)]
    (finding,) = audit(FewPass(), _many("bad", 1) + others)[0]
    # Elsewhere nine models pass always and three never: at most one passing among nine certain ones has probability 0.
    assert finding.task_ids == ("bad",) and finding.measures["chance"] == 0
    assert (finding.measures["passing"], finding.measures["models"]) == (1, 12)
    assert audit(FewPass(), _many("two", 2) + others)[0] == []  # 2 of 12 = 17 % is more than one in ten


def test_models_that_pass_little_elsewhere_are_no_reason_for_few_pass():
    runs = _many("weak", 1) + [item for name in "abcdefghij" for item in _many(name, 1)]
    assert audit(FewPass(), runs)[0] == []
    few = _many("bad", 0, models=9) + _many("good", 9, models=9)
    assert audit(FewPass(), few)[1]["bad"] == (Status.NOT_CHECKED, "fewer than 10 models with a scored run")
