"""Repeated runs on a board: pass^k, pass@k, variance by source; user simulators and judges where they vary."""

import numpy as np

from agenthard.audit.statistics import Estimate, Reliability, ScoreMatrix, pass_hat_k, trial_counts
from agenthard.reports.cleaning.inputs import AnalysisSettings, experiments_of
from agenthard.reports.cleaning.models import analyse_matrix
from agenthard.reports.cleaning.runs import choose_runs
from agenthard.reports.cleaning.trials import facets_text, reliability_text, trial_cells, trial_columns
from agenthard.taxonomy.trajectory import Judgement, Trajectory

SETTINGS = AnalysisSettings(draws=200, resamples=100)


def test_a_board_of_repeated_runs_has_pass_hat_k_on_the_tasks_of_its_scores() -> None:
    rng = np.random.default_rng(1)
    passed = rng.binomial(8, rng.random((3, 20)) * 0.8 + 0.1).astype(np.int32)
    zeros = np.zeros((3, 20), np.int32)
    matrix = ScoreMatrix(
        ("a", "b", "c"), tuple(f"t{i}" for i in range(20)), passed, zeros + 8, zeros, zeros.astype(np.int8)
    )
    board = analyse_matrix(matrix, (), SETTINGS).leaderboards[0]
    assert board.trials is not None and board.trials.ks == (1, 2, 4, 8)
    for row in board.trials.rows:
        counts = trial_counts(matrix, row.model)
        assert row.all_of == tuple(pass_hat_k(counts, k) for k in (1, 2, 4, 8))
    assert trial_columns(board.trials)[:6] == ("model", "pass^1", "pass^2", "pass^4", "pass^8", "pass@2")
    assert all(len(cells) == 8 for cells in trial_cells(board.trials))
    assert isinstance(board.reliability, Reliability) and isinstance(board.reliability.trial, Estimate)
    assert ", trials " in reliability_text(board.reliability)
    single = analyse_matrix(matrix.from_array(passed > 4, matrix.models, matrix.tasks), (), SETTINGS).leaderboards[0]
    assert single.trials is None and "no run is repeated" in reliability_text(single.reliability)


def test_simulators_and_judges_have_their_own_variance() -> None:
    judged = [Judgement(judge=name, kind="text", score=score) for name, score in (("x", 1.0), ("y", 0.0))]
    runs = [
        Trajectory(
            id=f"{task}{simulator}{trial}",
            task_id=task,
            model="m",
            trial=trial,
            passed=simulator == "good" or trial == 0,
            user_model=simulator,
            judgements=tuple(judged) if task == "t1" else (),
        )
        for task in ("t1", "t2")
        for simulator in ("good", "bad")
        for trial in range(2)
    ]
    (experiment,) = experiments_of(runs, ["t1", "t2"])
    assert isinstance(experiment.simulator, Estimate) and isinstance(experiment.judge, Estimate)
    # Per cell: means 1 and 1/2, within 0 and 1/2 of 1 degree each: (1/4 − 1/4) / 2 = 0; the judges differ by 1: 1/2.
    assert (experiment.simulator.value, experiment.simulator.n) == (0.0, 2)
    assert (experiment.judge.value, experiment.judge.n) == (0.5, 4)
    chosen = choose_runs([experiment], {"t1": "", "t2": ""}, None, clustered=False, min_verdicts=0.8)
    assert "the judge adds a standard deviation of 70.7 points" in facets_text(chosen.used)  # type: ignore[union-attr]
