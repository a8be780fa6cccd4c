import numpy as np
import pytest

from agenthard.audit.detectors.responses.matrix import NO_RUN, ScoreMatrix, mean_elsewhere, observe_run, quote_verdict
from agenthard.taxonomy import Trajectory


def run(model, task_id, passed, status="ok", trial=0, score=None) -> Trajectory:
    name = f"{model}/{task_id}/{trial}"
    return Trajectory(id=name, task_id=task_id, model=model, trial=trial, passed=passed, status=status, score=score)


def test_cells_are_means_over_trials_and_missing_cells_say_why():
    runs = [
        run("m2", "t2", True),
        run("m1", "t1", True),
        run("m1", "t1", False, trial=1),
        run("m2", "t1", None, "infrastructure_error"),
        run("m1", "t2", False, "agent_error"),
        run("m3", "t1", None),
    ]
    matrix = ScoreMatrix.build([observe_run(item) for item in runs])
    assert (matrix.models, matrix.tasks) == (("m1", "m2", "m3"), ("t2", "t1"))
    assert np.array_equal(matrix.scores, [[0, 0.5], [1, np.nan], [np.nan, np.nan]], equal_nan=True)
    assert matrix.runs.tolist() == [[1, 2], [1, 0], [0, 0]]
    assert matrix.missing("m1", "t1") is None
    assert matrix.missing("m2", "t1") == "infrastructure_error"
    assert matrix.missing("m3", "t1") == "ok"
    assert matrix.missing("m3", "t2") == NO_RUN


def test_an_infrastructure_error_beside_a_scored_trial_does_not_lower_the_score():
    runs = [run("m", "t", True), run("m", "t", None, "infrastructure_error", trial=1)]
    matrix = ScoreMatrix.build([observe_run(item) for item in runs])
    assert matrix.scores.tolist() == [[1.0]]
    assert matrix.unscored == {("m", "t"): ("infrastructure_error",)}


def test_mean_elsewhere_by_hand():
    values = np.array([[1.0, 0.0, 0.5], [np.nan, 1.0, np.nan]])
    expected = [[0.25, 0.75, 0.5], [1.0, np.nan, 1.0]]
    assert np.array_equal(mean_elsewhere(values), expected, equal_nan=True)


@pytest.mark.parametrize(("score", "pointer", "quote"), [(0.0, "/score", "0.0"), (None, "/passed", "false")])
def test_the_verdict_is_quoted_as_logged(score, pointer, quote):
    evidence = quote_verdict(run("m", "t", False, trial=2, score=score))
    assert (evidence.pointer, evidence.quote, evidence.note) == (pointer, quote, "m, trial 2, fails")
