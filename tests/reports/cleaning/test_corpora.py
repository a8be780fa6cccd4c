"""Real score tables: the audit paper's models on τ-bench, and BFCL v1 under two answer keys."""

from pathlib import Path

import pytest

from agenthard.audit.statistics import Estimate, NullBand, read_matrix
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.models import analyse_matrix
from agenthard.reports.comparison.scores import compare_scores

pytestmark = pytest.mark.corpora
SETTINGS = AnalysisSettings(draws=200, resamples=500)


def test_tau_bench_compares_the_models_that_cover_all_165_tasks(corpora: Path) -> None:
    matrix = read_matrix(corpora / "trajectories" / "tau1_paper_reward_matrix.json")
    found = analyse_matrix(matrix, matrix.tasks[:15], SETTINGS)
    assert [split.n for split in found.splits] == [165, 150]
    assert [(m.model, m.attempted) for m in found.runs.models if not m.comparable] == [("DeepSeek-R1-0528", 115)]
    assert len(found.leaderboards[0].rows) == 15
    # Passes counted from the table itself.
    for row in found.leaderboards[0].rows:
        line = matrix.models.index(row.model)
        assert (row.passed, row.runs) == (int(matrix.passed[line].sum()), 165)
    scores = [row.score.value for row in found.leaderboards[0].rows if isinstance(row.score, Estimate)]
    assert scores == sorted(scores, reverse=True)
    assert found.stability is not None
    assert all(isinstance(m.null, NullBand) and m.null.of_draws == 200 for m in found.stability.measures)


def test_bfcl_under_two_answer_keys(corpora: Path) -> None:
    folder = corpora / "bfcl_v1_results"
    old, head = (read_matrix(folder / f"bfcl_v1_2024-07-25_rescored_{key}key.csv.gz") for key in ("old", "head"))
    found = compare_scores(old, head, SETTINGS)
    assert (found.tasks, found.of, found.only_first, found.only_second) == (963, 963, (), ())
    rows = [head.models.index(model) for model in old.models]
    columns = [head.tasks.index(task) for task in old.tasks]
    later = head.passed[rows][:, columns]
    assert sum(model.gained for model in found.models) == int((later > old.passed).sum())
    assert sum(model.lost for model in found.models) == int((later < old.passed).sum())
    assert len(found.flips) == int((later != old.passed).any(axis=0).sum())
