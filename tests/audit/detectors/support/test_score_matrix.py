"""The matrix of observed scores, and the checks all-fail, all-pass and few-pass on it."""

import numpy as np
import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.responses import AllFail, AllPass, FewPass
from agenthard.audit.detectors.support.score_matrix import (
    mean_elsewhere,
    observe_run,
    quote_verdict,
    score_matrix,
    scores_of,
)
from agenthard.audit.shards import check_shard
from agenthard.audit.statistics.matrix import Missing
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


def run_of(model, task_id, passed, status="ok", trial=0, score=None) -> Trajectory:
    name = f"{model}/{task_id}/{trial}"
    return Trajectory(id=name, task_id=task_id, model=model, trial=trial, passed=passed, status=status, score=score)


def test_cells_are_means_over_trials_and_missing_cells_say_why():
    runs = [
        run_of("m2", "t2", True),
        run_of("m1", "t1", True),
        run_of("m1", "t1", False, trial=1),
        run_of("m2", "t1", None, "infrastructure_error"),
        run_of("m1", "t2", False, "agent_error"),
        run_of("m3", "t1", None),
    ]
    matrix = score_matrix([observe_run(item) for item in runs])
    assert (matrix.models, matrix.tasks) == (("m1", "m2", "m3"), ("t2", "t1"))
    assert np.array_equal(scores_of(matrix), [[0, 0.5], [1, np.nan], [np.nan, np.nan]], equal_nan=True)
    assert matrix.runs.tolist() == [[1, 2], [1, 0], [0, 0]]
    assert matrix.lost.tolist() == [[0, 0], [0, 1], [0, 1]]
    missing = [Missing.INFRASTRUCTURE_ERROR, Missing.NOT_RUN, Missing.NO_VERDICT]
    assert [matrix.reasons[cell] for cell in ((1, 1), (2, 0), (2, 1))] == missing
    assert not matrix.reasons[0].any()


def test_an_infrastructure_error_next_to_a_scored_trial_does_not_lower_the_score():
    runs = [run_of("m", "t", True), run_of("m", "t", None, "infrastructure_error", trial=1)]
    matrix = score_matrix([observe_run(item) for item in runs])
    assert scores_of(matrix).tolist() == [[1.0]]
    assert matrix.lost.tolist() == [[1]]


def test_mean_elsewhere_by_hand():
    values = np.array([[1.0, 0.0, 0.5], [np.nan, 1.0, np.nan]])
    expected = [[0.25, 0.75, 0.5], [1.0, np.nan, 1.0]]
    assert np.array_equal(mean_elsewhere(values), expected, equal_nan=True)


@pytest.mark.parametrize(("score", "pointer", "quote"), [(0.0, "/score", "0.0"), (None, "/passed", "false")])
def test_the_verdict_is_quoted_as_logged(score, pointer, quote):
    evidence = quote_verdict(run_of("m", "t", False, trial=2, score=score))
    assert (evidence.pointer, evidence.quote, evidence.note) == (pointer, quote, "m, trial 2, fails")


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
