"""Retention, score bounds, shares of components, heat maps and difficulty, each counted by hand."""

import numpy as np
import pytest

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined
from agenthard.reports.cleaning.analysis import Undecided
from agenthard.reports.cleaning.components import component_shares
from agenthard.reports.cleaning.figure_data import agreement_map, separability_curve
from agenthard.reports.cleaning.figures import ItemMap, SeparabilityCurve
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.items import MOST_CELLS, item_map, item_rest
from agenthard.reports.cleaning.panels import retention_of, undecided_bounds
from agenthard.reports.cleaning.splits import Split, describe_split
from agenthard.taxonomy.finding import Tier
from tests.reports.cleaning.small import finding


def card(matrix: ScoreMatrix) -> Split:
    return describe_split("cleaned", matrix.tasks, review=0, initial=len(matrix.tasks), matrix=matrix)


def test_a_category_below_the_safeguard_is_named() -> None:
    matrix = ScoreMatrix.from_array([[1, 0, 1], [0, 1, 0]], ["a", "b"], ["t0", "t1", "t2"])
    categories = {"t0": "x", "t1": "x", "t2": "y", "t3": "y", "t4": "z"}
    found = retention_of(card(matrix), categories, 0.5)
    assert [(row.category, row.kept, row.n, row.below_safeguard) for row in found.rows] == [
        ("x", 2, 2, False),
        ("y", 1, 2, False),
        ("z", 0, 1, True),
    ]
    assert found.sentence == "The issue-cleaned split keeps less than 50 % of 1 of 3 categories: z."
    assert isinstance(found.coverage, Estimate) and found.coverage.value == pytest.approx(2 / 3)


def test_bounds_say_whether_the_leader_could_change() -> None:
    # Decided: t0, t1; under review: t2. a: 1 1 0 → between 2/3 and 1; b: 1 0 1 → between 1/2 and 2/3.
    matrix = ScoreMatrix.from_array([[1, 1, 0], [1, 0, 1]], ["a", "b"], ["t0", "t1", "t2"])
    found = undecided_bounds(matrix, ["t2"])
    assert isinstance(found, Undecided) and not isinstance(found.bounds, Undefined)
    assert [(row.model, row.least, row.most) for row in found.bounds] == [
        ("a", pytest.approx(2 / 3), 1.0),
        ("b", 0.5, pytest.approx(2 / 3)),
    ]
    # With t2 both have 2/3: b may draw level.
    assert found.sentence == (
        "1 task under review can move a score by up to 33.3 points (a: 66.7 to 100.0 %); whether a leads may depend on "
        "them (1 model may draw level)."
    )
    clear = undecided_bounds(ScoreMatrix.from_array([[1, 1, 1], [0, 0, 1]], ["a", "b"], ["t0", "t1", "t2"]), ["t2"])
    assert isinstance(clear, Undecided) and clear.sentence.endswith("; a leads however they are decided.")
    assert isinstance(undecided_bounds(matrix, []), Undefined)


def test_shares_leave_signals_out() -> None:
    findings = [
        finding(1, "t0", "t1"),
        finding(2, "t1", tier=Tier.SUSPECTED, category="incorrect-tool-call"),
        finding(3, "t2", tier=Tier.SIGNAL, category="suspicious-score-pattern"),
        finding(4, "t3", category="too-lenient"),
    ]
    components = {f.id: "ground_truth" for f in findings[:2]} | {f.id: "evaluation" for f in findings[2:]}
    rows = {row.component: row for row in component_shares(findings, components)}
    assert list(rows) == ["user", "environment", "evaluation", "ground_truth"]
    gold, evaluation = rows["ground_truth"], rows["evaluation"]
    assert (gold.confirmed, gold.suspected, gold.signals, gold.tasks) == (1, 1, 0, 2)
    assert (evaluation.confirmed, evaluation.suspected, evaluation.signals, evaluation.tasks) == (1, 0, 1, 1)
    assert isinstance(gold.share, Estimate) and gold.share.value == pytest.approx(2 / 3)
    assert [(c.category, c.findings, c.tasks) for c in gold.categories] == [
        ("incorrect-tool-call", 1, 1),
        ("malformed-tool-call", 1, 2),
    ]
    assert isinstance(component_shares([], {})[0].share, Undefined)


def test_the_heat_map_counts_common_tasks() -> None:
    # a–b agree on t0 of t0, t1 (1/2), a–c on t0, t2 of three (2/3), b–c on t0 of t0, t1 (1/2).
    matrix = ScoreMatrix.from_array([[1, 1, 0], [1, 0, None], [1, 0, 0]], ["a", "b", "c"], ["t0", "t1", "t2"])
    found = agreement_map(card(matrix), matrix)
    assert found.models == ("a", "b", "c")
    assert found.values[0] == (1.0, 0.5, pytest.approx(2 / 3))
    assert found.values[1] == (0.5, 1.0, 1.0)
    alone = ScoreMatrix.from_array([[1, None], [None, 1]], ["a", "b"], ["t0", "t1"])
    assert agreement_map(card(alone), alone).values == ((1.0, None), (None, 1.0))


def test_the_curve_rises_in_n_and_marks_the_splits() -> None:
    rng = np.random.default_rng(0)
    values = (rng.random((4, 60)) < np.array([[0.9], [0.6], [0.4], [0.1]])).astype(int)
    matrix = ScoreMatrix.from_array(values, list("abcd"), [f"t{i}" for i in range(60)])
    curve = separability_curve(matrix, [(card(matrix), matrix)], None, AnalysisSettings(draws=200))
    assert isinstance(curve, SeparabilityCurve)
    assert [point.n for point in curve.points] == [6, 12, 24, 36, 48]
    means = [point.band.mean for point in curve.points]
    assert means == sorted(means) and means[-1] > 50
    assert [(mark.split, mark.n) for mark in curve.marks] == [("cleaned", 60)]


def test_item_rest_is_the_correlation_with_the_other_tasks() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, (9, 7))
    values[:, 6] = 1
    matrix = ScoreMatrix.from_array(values, list("abcdefghi"), [f"t{i}" for i in range(7)])
    found = item_rest(matrix)
    assert not isinstance(found, Undefined)
    assert "t6" not in found
    difficulty, discrimination = found["t2"]
    others = np.delete(values, 2, axis=1).mean(axis=1)
    assert isinstance(discrimination, Estimate) and isinstance(difficulty, Estimate)
    assert discrimination.value == pytest.approx(np.corrcoef(values[:, 2], others)[0, 1], abs=1e-12)
    assert difficulty.value == pytest.approx(1 - values[:, 2].mean())


def test_a_mis_keyed_task_discriminates_negatively_and_is_marked() -> None:
    skill = np.arange(12)[:, None]
    values = (skill >= np.arange(1, 11)[None, :]).astype(int)
    values[:, 4] = 1 - values[:, 4]
    tasks = [f"t{i}" for i in range(10)]
    matrix = ScoreMatrix.from_array(values, [f"m{i}" for i in range(12)], tasks)
    decisions = [Decision(task_id=t, action="drop" if t == "t4" else "keep", reasons=("why",)) for t in tasks]
    found = item_map(matrix, dict.fromkeys(tasks, "a"), decisions, {"t4"})
    assert isinstance(found, ItemMap) and found.method.startswith("2PL")
    points = {point.task_id: point for point in found.points}
    wrong = points["t4"].discrimination
    assert isinstance(wrong, Estimate) and wrong.value < 0
    assert points["t4"].flagged and points["t4"].decision == "drop" and not points["t3"].flagged
    assert found.models == 12 and found.left_out == 0


def test_large_and_repeated_matrices_fall_back_to_item_rest_and_say_why() -> None:
    n = MOST_CELLS // 2 + 1
    values = np.tile([1, 0], (2, n // 2 + 1))[:, :n]
    values[1, : n // 3] = 0
    tasks = [f"t{i}" for i in range(n)]
    decisions = [Decision(task_id=t, action="keep", reasons=("why",)) for t in tasks]
    found = item_map(ScoreMatrix.from_array(values, ["a", "b"], tasks), dict.fromkeys(tasks, "a"), decisions, ())
    assert isinstance(found, ItemMap) and "item-rest" in found.method and "40,000 scores" in found.method
