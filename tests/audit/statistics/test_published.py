"""Errors of published code, and published numbers, that the statistics must not repeat or must reproduce."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import norm

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    arena_hard_separability,
    matrix_from_trajectories,
    paired_difference,
    score_intervals,
    share_with_undecided,
    wilson_interval,
)
from agenthard.taxonomy import Trajectory

Build = Callable[[ArrayLike], ScoreMatrix]


@pytest.mark.parametrize("resamples", [100, 1000, 10_000])
def test_lighteval_the_standard_error_is_not_divided_by_the_root_of_b(matrix: Build, resamples: int) -> None:
    intervals = score_intervals(matrix([[1] * 30 + [0] * 70, [0] * 50 + [1] * 50]), resamples=resamples)
    assert not isinstance(intervals, Undefined)
    error = intervals["m0"].standard_error
    # sqrt(.3 · .7/100) = .0458 whatever B is; divided by √1000 it would be .0014
    assert error == pytest.approx(sqrt(0.21 / 100), rel=4 / sqrt(2 * resamples))


def test_lm_eval_a_paired_difference_is_not_tested_as_unpaired() -> None:
    strong, weak = [1.0] * 112 + [0.0] * 88, [1.0] * 100 + [0.0] * 100
    paired = paired_difference(strong, weak)
    assert isinstance(paired, Estimate) and paired.low is not None and paired.standard_error is not None
    unpaired_error = sqrt(np.var(strong, ddof=1) / 200 + np.var(weak, ddof=1) / 200)
    # 12 of 200 tasks differ: SE = sqrt(.06 · .94/199) = .0168 against .0498
    assert paired.standard_error == pytest.approx(sqrt(0.06 * 0.94 / 199), abs=1e-12)
    assert paired.low > 0 and 0.06 - norm.ppf(0.975) * unpaired_error < 0


def test_arena_hard_its_interval_is_named_by_what_it_covers(leveled: ScoreMatrix) -> None:
    result = arena_hard_separability(leveled)
    assert isinstance(result, Estimate)
    assert result.level == 0.90 and "5 % to 95 %" in result.method and "100 unpaired rounds" in result.method


def test_a_time_out_of_an_api_is_neither_a_failure_nor_a_flag() -> None:
    runs = [Trajectory(id=f"r{i}", task_id=f"t{i}", model="a", passed=i < 6) for i in range(8)]
    runs += [
        Trajectory(id=f"x{i}", task_id=f"x{i}", model="a", status="infrastructure_error", status_reason="API time-out")
        for i in range(2)
    ]
    assert matrix_from_trajectories(runs).scores() == {"a": 6 / 8}
    assert matrix_from_trajectories(runs, infrastructure="failure").scores() == {"a": 6 / 10}
    flagged = share_with_undecided(yes=3, no=5, undecided=2).decided
    assert isinstance(flagged, Estimate) and flagged.value == 3 / 8


def test_ace_bench_the_mean_of_equal_domains_is_the_share_of_all() -> None:
    passes = {"course": 40, "meal": 12, "pc_build": 33, "shopping": 54, "travel": 0, "workforce": 7}
    tasks = [f"{domain}/{i}" for domain in passes for i in range(54)]
    m = ScoreMatrix.from_array([[int(i < count) for count in passes.values() for i in range(54)]], ["model"], tasks)
    cells = [m.keep([t for t in tasks if t.startswith(f"{domain}/")]).scores()["model"] for domain in passes]
    assert cells == [count / 54 for count in passes.values()]
    assert m.scores()["model"] == pytest.approx(sum(cells) / 6, abs=1e-12) == pytest.approx(146 / 324, abs=1e-12)


@pytest.mark.parametrize(("passed", "printed"), [(5, "15.6"), (9, "28.1"), (17, "53.1")])
def test_agency_bench_pass_shares_are_of_32_scenarios_not_of_138_tasks(passed: int, printed: str) -> None:
    share = wilson_interval(passed, 32, unit="scenarios")
    assert isinstance(share, Estimate) and f"{100 * share.value:.1f}" == printed
    assert printed not in {f"{100 * k / 138:.1f}" for k in range(139)}


def test_one_threshold_does_not_carry_across_sizes(matrix: Build) -> None:
    # with 89 tasks two models differ by nothing or by at least 1/89 = .0112
    scores = matrix([[1] * 40 + [0] * 49, [1] * 41 + [0] * 48]).scores()
    assert abs(scores["m0"] - scores["m1"]) == pytest.approx(0.0112, abs=5e-5)
