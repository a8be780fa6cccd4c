"""Calibration of a judge's confidence against labels, with known answers."""

import numpy as np
import pytest

from agenthard.audit.decisions.judging import Reporting, log_odds
from agenthard.audit.statistics.calibration import brier, cross_validated, fit_curve, reliability
from agenthard.reports.alignment.confidence import Claim, claims_of, confidence, confidence_sections
from agenthard.reports.alignment.truth import Names, Truth
from agenthard.reports.kit.markdown import sections_markdown
from agenthard.taxonomy.categories import load_taxonomy
from tests.audit.judge.verdicts import flawed, issue, sound


def truth(task_id: str, flawed: bool, component: str = "ground_truth", cluster: str | None = None) -> Truth:
    return Truth(
        task_id=task_id,
        flawed=flawed,
        annotators=1,
        categories=(),
        components=(component,) if flawed else (),
        category_known=True,
        component_known=True,
        cluster=cluster,
        looked_again=False,
        confirmed_later=False,
        modes=(),
    )


def overconfident(count: int, seed: int) -> tuple[list[Claim], list[Truth]]:
    """Claims at .6 to .95 that are right with slope .5 and intercept −.3 of the stated log odds."""
    rng = np.random.default_rng(seed)
    stated = rng.choice([0.6, 0.7, 0.8, 0.9, 0.95], count)
    real = 1 / (1 + np.exp(-(0.5 * np.array([log_odds(s) for s in stated]) - 0.3)))
    right = rng.random(count) < real
    claims = [Claim(f"t/{n}", "incorrect-tool-call", float(s)) for n, s in enumerate(stated)]
    return claims, [truth(f"t/{n}", bool(r)) for n, r in enumerate(right)]


def test_an_overconfident_judge_is_brought_down() -> None:
    claims, known = overconfident(1500, 4)
    found = confidence(claims, known, Names(load_taxonomy()), "made up", seed=1)
    assert found is not None
    whole = found.rows[0]
    assert whole.curve is not None and whole.brier_calibrated is not None
    assert (whole.curve.slope, whole.curve.intercept) == (pytest.approx(0.5, abs=0.15), pytest.approx(-0.3, abs=0.25))
    assert whole.brier_calibrated < whole.brier_stated
    top = found.stated[-1]
    assert top.observed_high < top.mean, "stated confidences above .9 are right far less often"
    assert all(row.observed_low <= row.mean <= row.observed_high for row in found.calibrated if row.n > 100)
    assert sum(row.n for row in found.stated) == sum(row.n for row in found.calibrated) == 1500
    # A wrong flag that costs as much as a missed flaw: the probability is .5, the stated confidence well above it.
    table = sections_markdown(confidence_sections(found))
    assert "Development figures" in table
    reporting = Reporting(calibration=whole.curve)
    assert reporting.reports("incorrect-tool-call", 0.9) and not reporting.reports("incorrect-tool-call", 0.55)


def test_a_claim_of_another_component_is_wrong() -> None:
    claims = [
        Claim("t/1", "incorrect-tool-call", 0.9),
        Claim("t/1", "too-strict", 0.9),
        Claim("t/2", "too-strict", 0.9),
    ]
    known = [truth("t/1", flawed=True), truth("t/2", flawed=False)]
    found = confidence([*claims, Claim("elsewhere", "too-strict", 0.9)], known, Names(load_taxonomy()), "x", seed=1)
    assert found is not None
    assert [(row.name, row.claims, row.right) for row in found.rows] == [
        ("all", 3, 1),
        ("too-strict", 2, 0),
        ("incorrect-tool-call", 1, 1),
    ]
    assert found.calibrated == () and "fewer than 10 claims" in found.rows[0].why_none
    assert confidence([], known, Names(load_taxonomy()), "x", seed=1) is None


def test_only_verified_claims_count() -> None:
    verdicts = [flawed("a", 0, issue(standing="verified")), flawed("a", 1, issue(standing="unverified")), sound("b")]
    verdicts.append(flawed("c", 0, issue(standing="proved")))
    assert len(claims_of(verdicts)) == 1


def test_a_group_never_helps_to_predict_itself() -> None:
    # Each group has one confidence of its own and is all right or all wrong: seen once, it would be predicted well.
    odds = np.repeat(np.linspace(-2, 2, 20), 5)
    right = np.repeat(np.arange(20) % 2 == 0, 5)
    groups = [f"g{n // 5}" for n in range(100)]
    held = cross_validated(odds, right, groups, folds=20, seed=3)
    for group in range(20):
        mask = np.arange(100) // 5 != group
        curve = fit_curve(odds[mask], right[mask])
        assert curve is not None
        assert held[5 * group] == pytest.approx(float(curve.probability(odds[5 * group : 5 * group + 1])[0]))


def test_claims_that_are_all_right_have_no_curve() -> None:
    odds = np.linspace(0, 2, 30)
    assert fit_curve(odds, np.ones(30, dtype=np.bool_)) is None
    assert fit_curve(odds[:9], np.arange(9) % 2 == 0) is None
    separated = fit_curve(odds, odds > 1)
    assert separated is not None and np.isfinite([separated.slope, separated.intercept]).all()


def test_bins_have_every_claim_once() -> None:
    probability = np.array([0.0, 0.5, 0.59, 0.6, 1.0])
    right = np.array([False, True, False, True, True])
    bins = reliability(probability, right, list("abcde"), (0.0, 0.5, 0.6, 1.0))
    assert [(each.n, each.right) for each in bins] == [(1, 0), (2, 1), (2, 2)]
    clustered = reliability(probability, right, list("abbde"), (0.0, 0.5, 0.6, 1.0))
    assert clustered[1].interval[1] - clustered[1].interval[0] >= bins[1].interval[1] - bins[1].interval[0]
    assert brier(probability, right) == pytest.approx((0 + 0.25 + 0.59**2 + 0.16 + 0) / 5)


@pytest.mark.parametrize(("cost", "threshold"), [(0.25, 0.2), (1, 0.5), (3, 0.75), (9, 0.9)])
def test_the_threshold_is_where_both_errors_cost_the_same(cost: float, threshold: float) -> None:
    rule = Reporting(false_flag_cost=cost)
    assert rule.threshold == pytest.approx(threshold)
    assert rule.threshold * 1 == pytest.approx((1 - rule.threshold) * cost)
