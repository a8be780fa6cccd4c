"""Changes of a ranking compared with deleting as many random tasks."""

import numpy as np

from agenthard.audit.statistics import Estimate, NullBand, ScoreMatrix, Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import Split, describe_split
from agenthard.reports.cleaning.stability import RankingStability, ranking_stability

SETTINGS = AnalysisSettings(draws=200, seed=5)


def compare(matrix: ScoreMatrix, kept: list[str]) -> RankingStability:
    after = matrix.keep(kept)

    def card(name: str, part: ScoreMatrix) -> Split:
        return describe_split(name, part.tasks, review=0, initial=len(matrix.tasks), matrix=part)  # type: ignore[arg-type]

    return ranking_stability(
        card("initial", matrix),
        card("cleaned", after),
        matrix.scores(),
        after.scores(),
        matrix,
        after,
        "errors_missing",
        SETTINGS,
    )


def test_deleting_tasks_at_random_does_not_exceed_its_own_null() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random((6, 100)) < np.linspace(0.8, 0.3, 6)[:, None]).astype(int)
    matrix = ScoreMatrix.from_array(values, list("abcdef"), [f"t{i}" for i in range(100)])
    found = compare(matrix, [f"t{i}" for i in sorted(np.random.default_rng(9).choice(100, 80, replace=False))])
    assert found.sentence == (
        "From the initial split (100 tasks) to the issue-cleaned split (80 tasks), no change of the ranking exceeds "
        "the null of deleting as many random tasks."
    )
    assert [measure.id for measure in found.measures] == [
        "change_rate",
        "rank_shift",
        "kendall_tau_b",
        "indistinguishable",
        "top_changed",
    ]
    for measure in found.measures:
        assert isinstance(measure.null, NullBand) and isinstance(measure.observed, Estimate)
        assert measure.null.observed == measure.observed.value
        assert measure.null.draws == 200 and measure.null.n == 80
        assert "does not exceed the null of deleting as many random tasks" in measure.sentence


def test_deleting_the_tasks_that_favour_one_model_exceeds_the_null() -> None:
    # a leads by the last 15 tasks, which only it passes: 45 against 35 of 100. Without them it is 30 against 35 of 85.
    a = [1] * 30 + [0] * 55 + [1] * 15
    b = [0] * 50 + [1] * 35 + [0] * 15
    c = [0] * 100
    matrix = ScoreMatrix.from_array([a, b, c], ["a", "b", "c"], [f"t{i}" for i in range(100)])
    found = compare(matrix, [f"t{i}" for i in range(85)])
    moves = found.moves
    assert not isinstance(moves, Undefined)
    assert [(move.model, move.initial_rank, move.later_rank) for move in moves] == [
        ("a", 1, 2),
        ("b", 2, 1),
        ("c", 3, 3),
    ]
    top = found.measures[-1]
    assert isinstance(top.observed, Estimate) and top.observed.value == 1.0
    assert isinstance(top.null, NullBand) and top.null.exceeds
    assert "Another model comes first (100 % = yes) (above)" in found.sentence
    assert "one figure in ten leaves it by chance" in found.sentence


def test_deleting_nothing_or_everything_has_no_null() -> None:
    matrix = ScoreMatrix.from_array([[1, 0, 1], [0, 1, 0]], ["a", "b"], ["t0", "t1", "t2"])
    same = compare(matrix, ["t0", "t1", "t2"])
    assert all(isinstance(measure.null, Undefined) for measure in same.measures)
    assert "no figure of the ranking can be compared with a null" in same.sentence
    rate = same.measures[0].observed
    assert isinstance(rate, Estimate) and rate.value == 0
    nothing = compare(matrix, [])
    assert isinstance(nothing.moves, Undefined) and "no task with a verdict" in nothing.moves.reason
    assert all(isinstance(measure.observed, Undefined) for measure in nothing.measures)


def test_cross_fitted_scores_replace_the_observed_value_of_the_null() -> None:
    rng = np.random.default_rng(2)
    matrix = ScoreMatrix.from_array(rng.integers(0, 2, (4, 40)), list("abcd"), [f"t{i}" for i in range(40)])
    scores = matrix.scores()
    upside_down = dict(zip(scores, sorted(scores.values()), strict=True))
    split = describe_split("initial", matrix.tasks, review=0, initial=40, matrix=matrix)
    after = matrix.keep(matrix.tasks[:30])
    found = ranking_stability(split, split, scores, upside_down, matrix, after, "errors_missing", SETTINGS)
    for measure in found.measures[:3]:
        assert isinstance(measure.null, NullBand) and isinstance(measure.observed, Estimate)
        assert measure.null.observed == measure.observed.value
