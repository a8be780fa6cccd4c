"""Changes of a ranking compared with deleting as many random tasks."""

import numpy as np

from agenthard.audit.statistics import Estimate, NullBand, ScoreMatrix, Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import Split, describe_split
from agenthard.reports.cleaning.stability import Groups, RankingStability, ranking_stability

SETTINGS = AnalysisSettings(draws=2000, seed=5)


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
        assert measure.null.draws == 2000 and measure.null.n == 80
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
    assert isinstance(top.null, NullBand) and top.verdict == "beyond"
    # P(new leader | random deletion), not a band of 0 to 1.
    assert top.null.low is None and top.null.mean < 0.01 and "no, " not in top.sentence
    assert "Another model comes first (above)" in found.sentence
    assert "together at most 5 % false alarms" in found.sentence


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


def test_the_hard_split_has_no_deletion_null() -> None:
    rng = np.random.default_rng(2)
    matrix = ScoreMatrix.from_array(rng.integers(0, 2, (4, 40)), list("abcd"), [f"t{i}" for i in range(40)])
    initial = describe_split("initial", matrix.tasks, review=0, initial=40, matrix=matrix)
    after = matrix.keep(matrix.tasks[:20])
    hard = describe_split("hard", after.tasks, review=0, initial=40, matrix=after)
    scores = matrix.scores(), after.scores()
    found = ranking_stability(initial, hard, *scores, matrix, after, "errors_missing", SETTINGS)
    assert all(isinstance(m.null, Undefined) and m.verdict is None for m in found.measures)
    assert "selected on these outcomes" in found.sentence and "below" not in found.sentence


def test_clones_that_leave_together_leave_together_in_the_null() -> None:
    # Deleting the kind t0–t9 swaps the ranking; deleting ten random tasks seldom does.
    kinds = {f"t{i}": f"k{i // 10}" for i in range(40)}
    a, b = [1] * 20 + [0] * 20, [0] * 10 + [1] * 7 + [0] * 3 + [1] * 10 + [0] * 10
    matrix = ScoreMatrix.from_array([a, b], ["a", "b"], list(kinds))
    after = matrix.keep([task for task in matrix.tasks if kinds[task] != "k0"])
    cards = [
        describe_split(name, part.tasks, review=0, initial=40, matrix=part)
        for name, part in (("initial", matrix), ("cleaned", after))
    ]
    scores = matrix.scores(), after.scores()
    rows = [
        ranking_stability(*cards, *scores, matrix, after, "errors_missing", SETTINGS, groups)
        for groups in (Groups(), Groups(clusters=kinds))
    ]
    alone, together = (row.measures[-1] for row in rows)
    assert isinstance(alone.null, NullBand) and isinstance(together.null, NullBand)
    assert 0.15 < together.null.mean < 0.35
    assert alone.null.mean < together.null.mean
    assert together.verdict == "within"
