import numpy as np
import pytest
from pydantic import ValidationError

from agenthard.audit.statistics import Estimate
from agenthard.audit.statistics.intervals import wilson
from agenthard.reports.alignment.measures import Settings, measure
from agenthard.reports.alignment.plan import Expected, PlanRow, make_plan
from tests.reports.alignment.labelled import make_answers, make_labelled

EXPECTED = Expected(tasks=1000, precision=0.8, recall=0.64, prevalence=0.25)
"""200 tasks flagged, 160 of them flawed; 90 of the other 800 are flawed."""


def rows(expected: Expected = EXPECTED) -> dict[tuple[str, str], PlanRow]:
    return {(row.design, row.goal): row for row in make_plan(expected, (0.1, 0.05)).rows}


def test_what_is_expected_follows_from_the_definitions() -> None:
    assert EXPECTED.flagged_share == pytest.approx(0.2)
    assert EXPECTED.missed_share == pytest.approx(90 / 800)
    with pytest.raises(ValidationError, match="contradict each other"):
        Expected(tasks=100, precision=0.2, recall=0.9, prevalence=0.5)


@pytest.mark.parametrize("goal", ["± 0.1 on precision and recall", "± 0.05 on precision and recall"])
def test_the_number_is_enough_and_the_best_split_needs_no_more(goal: str) -> None:
    half = float(goal.split()[1])
    found = [rows()[design, goal] for design in ("random", "balanced", "best split")]
    assert all(max(row.half_precision, row.half_recall) <= half for row in found)
    assert found[2].labels <= min(found[0].labels, found[1].labels)


def test_without_the_finite_population_it_is_the_wilson_interval() -> None:
    huge = Expected(tasks=10**7, precision=0.8, recall=0.64, prevalence=0.25)
    row = rows(huge)["random", "± 0.1 on precision and recall"]
    # Recall decides: a quarter of the labels are flawed, and 0.64 ± 0.1 needs so many of them.
    flawed = row.labels / 4
    assert row.half_recall == pytest.approx(0.1, abs=0.001)
    low, high = wilson(round(0.64 * round(flawed)), round(flawed))
    assert (high - low) / 2 == pytest.approx(row.half_recall, abs=0.002)


def test_a_balanced_sample_of_that_size_is_as_precise_as_planned() -> None:
    row = rows()["balanced", "± 0.1 on precision and recall"]
    rng = np.random.default_rng(2)
    rest = row.labels - row.flagged
    widths = []
    for _ in range(60):
        flagged = rng.permutation(np.repeat([True, False], [160, 40]))[: row.flagged]
        missed = rng.permutation(np.repeat([True, False], [90, 710]))[:rest]
        truth = "".join("x" if flaw else "o" for flaw in (*flagged, *missed))
        labelled = make_labelled(truth, strata="f" * row.flagged + "u" * rest, population={"f": 200, "u": 800})
        recall = measure(make_answers("f" * row.flagged + "c" * rest), labelled, Settings()).recall
        assert isinstance(recall, Estimate)
        assert recall.low is not None
        assert recall.high is not None
        widths.append((recall.high - recall.low) / 2)
    assert np.mean(widths) == pytest.approx(row.half_recall, rel=0.05)


def test_all_labels_leave_nothing_open() -> None:
    small = Expected(tasks=20, precision=0.8, recall=0.7, prevalence=0.3)
    usual = next(
        row for row in make_plan(small, (0.1,)).rows if row.goal.startswith("10%") and row.design == "balanced"
    )
    assert (usual.labels, usual.half_precision, usual.half_recall) == (20, 0, 0)


@pytest.mark.parametrize("half", [0, 0.5, -1])
def test_impossible_widths_are_refused(half: float) -> None:
    with pytest.raises(ValueError, match="half width"):
        make_plan(EXPECTED, (half,))
