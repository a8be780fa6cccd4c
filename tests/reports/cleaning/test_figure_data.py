"""Shares of components, heat maps and the curve of separability, each counted by hand."""

import numpy as np
import pytest

from agenthard.audit.statistics import Estimate, ScoreMatrix, Undefined
from agenthard.reports.cleaning.figure_data import (
    SeparabilityCurve,
    agreement_map,
    component_shares,
    separability_curve,
)
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.splits import Split, describe_split
from agenthard.taxonomy.finding import Tier
from tests.reports.cleaning.small import finding


def card(matrix: ScoreMatrix) -> Split:
    return describe_split("cleaned", matrix.tasks, review=0, initial=len(matrix.tasks), matrix=matrix)


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
    # The curve ends where the whole benchmark is, so that every split is within its axis.
    assert [point.n for point in curve.points] == [6, 12, 24, 36, 48, 60]
    means = [point.band.mean for point in curve.points]
    assert means == sorted(means) and means[-1] > 50
    assert [(mark.split, mark.n) for mark in curve.marks] == [("cleaned", 60)]
