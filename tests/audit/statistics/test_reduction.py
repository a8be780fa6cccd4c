import pytest

from agenthard.audit.statistics import (
    Estimate,
    Undefined,
    category_coverage,
    compression,
    macro_compression,
    pooled_compression,
    retention,
    stage_compressions,
)


def test_stages_are_compared_with_the_first_and_the_one_before() -> None:
    initial, rules, judge = stage_compressions({"initial": 200, "rules": 150, "judge": 120})
    assert isinstance(initial.from_previous, Undefined)
    assert isinstance(judge.from_original, Estimate) and isinstance(judge.from_previous, Estimate)
    assert (judge.from_original.value, judge.from_previous.value) == (0.4, pytest.approx(0.2, abs=1e-12))
    assert isinstance(rules.from_original, Estimate) and rules.from_original.value == 0.25


def test_pooled_and_macro_averages_differ() -> None:
    benchmarks = {"large": (90, 100), "small": (5, 10), "empty": (0, 0)}
    pooled, macro = pooled_compression(benchmarks), macro_compression(benchmarks)
    assert isinstance(pooled, Estimate) and isinstance(macro, Estimate)
    assert pooled.value == pytest.approx(15 / 110, abs=1e-12)
    assert macro.value == pytest.approx((0.1 + 0.5) / 2, abs=1e-12)
    assert (macro.n, macro.of) == (2, 3)


def test_no_tasks_and_too_many() -> None:
    for result in (compression(0, 0), pooled_compression({}), macro_compression({"a": (0, 0)})):
        assert isinstance(result, Undefined)
    with pytest.raises(ValueError, match="0 to 3 tasks, got 4"):
        compression(4, 3)
    with pytest.raises(ValueError, match="got 30"):
        stage_compressions({"initial": 20, "later": 30})


CATEGORIES = {f"t{i}": "large" for i in range(30)} | {f"s{i}": "small" for i in range(4)}


def test_retention_names_categories_below_the_safeguard() -> None:
    large, small = retention(CATEGORIES, ["t0", "t1", "t2"])
    # exactly 10 % is enough, whatever 0.1 · 30 is in binary
    assert (large.category, large.n, large.kept, large.share, large.below_safeguard) == ("large", 30, 3, 0.1, False)
    assert (small.kept, small.share, small.below_safeguard) == (0, 0.0, True)


def test_coverage_counts_categories_that_are_left() -> None:
    result = category_coverage(CATEGORIES, ["t0"])
    assert isinstance(result, Estimate) and (result.value, result.n) == (0.5, 2)
    assert isinstance(category_coverage({}, []), Undefined)


def test_kept_tasks_are_known_and_named_once() -> None:
    with pytest.raises(ValueError, match="no category, the first is 'x'"):
        retention(CATEGORIES, ["x"])
    with pytest.raises(ValueError, match="twice"):
        retention(CATEGORIES, ["t0", "t0"])
