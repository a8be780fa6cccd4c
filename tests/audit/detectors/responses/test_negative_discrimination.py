import numpy as np
import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.responses import NegativeDiscrimination
from agenthard.audit.detectors.responses.negative_discrimination import item_rest
from agenthard.audit.detectors.support.score_matrix import observe_run
from agenthard.audit.shards import check_shard
from agenthard.audit.statistics.intervals import fisher_z
from agenthard.taxonomy import AgentTask, EnvironmentSpec, EvaluationSpec, GroundTruth, Status, Trajectory, UserSpec


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


def runs_of(scores) -> dict[str, list[Trajectory]]:
    """Turn a models × tasks table (1, 0, NaN = no run) into runs without messages."""
    table = np.asarray(scores, dtype=float)
    return {
        f"t{t}": [
            Trajectory(id=f"{m}/{t}", task_id=f"t{t}", model=f"m{m:02}", passed=bool(table[m, t]), score=table[m, t])
            for m in range(table.shape[0])
            if not np.isnan(table[m, t])
        ]
        for t in range(table.shape[1])
    }


def audit(scores):
    runs, detector = runs_of(scores), NegativeDiscrimination()
    shards = [check_shard([task(name)], runs, [detector]) for name in runs]
    findings, coverage = conclude("tiny", list(runs), shards, [detector])
    return findings, {row.task_id: (row.status, row.reason) for row in coverage}


def ladder(models=12, tasks=24):
    """Model m passes the tasks below 2m (a Guttman scale); with the defaults nobody passes the last two."""
    return np.array([[float(t < 2 * m) for t in range(tasks)] for m in range(models)])


def test_a_task_that_the_better_half_fails_is_flagged():
    scores = ladder()
    scores[:, 11] = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    findings, statuses = audit(scores)
    (finding,) = findings
    assert finding.task_ids == ("t11",)
    # Other tasks passed: 0 2 4 6 8 10 | 11 13 15 17 19 21 (mean 10.5, sum of squared deviations 503), against six ones
    # and six zeros (sum of squares 3): r = (30/2 - 96/2) / sqrt(3 · 503)
    assert finding.measures["correlation"] == pytest.approx(-33 / 1509**0.5)
    assert finding.measures["high"] < 0
    assert [item.note.split(",")[0] for item in finding.evidence] == ["m11", "m10", "m00"]
    assert finding.evidence[0].note.endswith("fails; it passes 91% of its other tasks")
    assert statuses["t5"] == (Status.CLEAN, "")


def test_constant_tasks_are_undefined_and_say_so():
    _, statuses = audit(ladder())
    reason = "undefined because all models have the same score on it"
    assert statuses["t23"] == statuses["t22"] == (Status.NOT_CHECKED, reason)


def test_equal_models_leave_it_undefined():
    scores = np.tile([1.0, 0.0], (8, 10))
    scores[:4, 0] = 0.0
    _, statuses = audit(scores)
    assert statuses["t0"] == (Status.NOT_CHECKED, "undefined because all models are equally strong on the other tasks")


@pytest.mark.parametrize(("models", "tasks"), [(7, 24), (12, 10)])
def test_too_few_models_or_tasks_are_not_checked(models, tasks):
    findings, statuses = audit(ladder(models, tasks))
    assert findings == []
    assert {reason for _, reason in statuses.values()} == {
        "fewer than 8 models with a scored run and 10 other scored tasks"
    }


def test_complete_data_give_the_plain_item_rest_correlation():
    scores = (np.random.default_rng(1).random((9, 15)) < 0.6).astype(float)
    correlations, models, reasons = item_rest(scores)
    for t in range(15):
        rest = np.delete(scores, t, axis=1).mean(axis=1)
        assert reasons[t] == ""
        assert correlations[t] == pytest.approx(np.corrcoef(scores[:, t], rest)[0, 1])
    assert models == [9] * 15


def test_missing_cells_do_not_make_a_model_strong_for_having_run_easy_tasks():
    # 12 easy tasks and 12 hard ones; half of the models ran the easy ones only.
    rng = np.random.default_rng(2)
    scores = np.concatenate([(rng.random((16, 12)) < 0.9), (rng.random((16, 12)) < 0.1)], axis=1).astype(float)
    scores[8:, 12:] = np.nan
    correlations, models, _ = item_rest(scores)
    for t in range(12):
        seen = ~np.isnan(scores)
        deviation = scores - np.nanmean(scores, axis=0)
        rest = [np.delete(deviation[m], t)[np.delete(seen[m], t)].mean() for m in range(16)]
        if np.ptp(scores[:, t]) > 0:
            assert correlations[t] == pytest.approx(np.corrcoef(scores[:, t], rest)[0, 1])
    assert models[:12] == [16] * 12
    assert models[12:] == [8] * 12


def test_a_model_with_few_other_tasks_is_left_out():
    scores = ladder()
    scores[0, 10:] = np.nan
    assert item_rest(scores)[1][:2] == [11, 11]


@pytest.mark.long
def test_noise_of_71_models_and_1700_tasks_is_rarely_flagged():
    rng = np.random.default_rng(3)
    ability, ease = rng.normal(size=71), rng.normal(size=1700)
    scores = rng.random((71, 1700)) < 1 / (1 + np.exp(-ability[:, None] - ease))
    notes = [observe_run(item) for items in runs_of(scores).values() for item in items]
    results = list(NegativeDiscrimination().conclude([note for note in notes if note.task_id != "t0"]))
    assert len(results) < 20


def test_the_flag_is_the_upper_end_of_fishers_interval():
    assert fisher_z(-0.70, 8)[1] > 0 > fisher_z(-0.71, 8)[1]
