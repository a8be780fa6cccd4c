import numpy as np
import pytest

from agenthard.audit.statistics.resampling import (
    all_bootstrap_means,
    bootstrap_means,
    percentile_interval,
    random_subsets,
)


def test_the_same_tasks_are_drawn_for_all_columns() -> None:
    rng = np.random.default_rng(1)
    x = (rng.random((60, 1)) < 0.5).astype(float)
    means = all_bootstrap_means(np.hstack([x, x, 1 - x]), resamples=300, seed=4)
    assert np.array_equal(means[:, 0], means[:, 1])
    assert means[:, 2] == pytest.approx(1 - means[:, 0], abs=1e-12)


def test_means_are_multiples_of_one_nth_and_spread_as_theory_says() -> None:
    x = np.array([1.0] * 30 + [0.0] * 70)[:, None]
    means = all_bootstrap_means(x, resamples=20_000, seed=0)[:, 0]
    assert np.array_equal(means, np.round(means * 100) / 100)
    # mean .3 and standard deviation sqrt(.3 · .7/100) = .0458; the error of 20,000 draws is below 4 standard errors
    assert means.mean() == pytest.approx(0.3, abs=4 * 0.0458 / np.sqrt(20_000))
    assert means.std() == pytest.approx(0.0458258, rel=0.02)


def test_fractions_take_the_exact_path_too() -> None:
    x = np.array([0.25, 0.5, 1.0, 0.0, 0.75, 0.1])[:, None]
    fine = all_bootstrap_means(x, resamples=50, seed=3)
    coarse = all_bootstrap_means(np.round(x * 100), resamples=50, seed=3)
    assert fine == pytest.approx(coarse / 100, abs=1e-12)


def test_whole_clusters_are_drawn() -> None:
    x = np.array([1.0, 1.0, 1.0, 0.0, 0.0])[:, None]
    means = all_bootstrap_means(x, resamples=4000, seed=0, clusters=["a", "a", "a", "b", "b"])[:, 0]
    # two draws of {a: 3 of 3, b: 0 of 2}: aa → 1, bb → 0, ab → 3/5
    values, counts = np.unique(np.round(means, 12), return_counts=True)
    assert values.tolist() == [0.0, 0.6, 1.0]
    assert counts / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_a_seed_reproduces_whatever_was_drawn_in_between() -> None:
    x = np.eye(40)
    first = all_bootstrap_means(x, resamples=100, seed=9)
    all_bootstrap_means(x, resamples=100, seed=10)
    assert np.array_equal(first, all_bootstrap_means(x, resamples=100, seed=9))


def test_large_and_remembered_draws_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.eye(40)
    remembered = all_bootstrap_means(x, resamples=100, seed=9)
    monkeypatch.setattr("agenthard.audit.statistics.resampling._REMEMBERED_CELLS", 0)
    assert np.array_equal(remembered, all_bootstrap_means(x, resamples=100, seed=9))


def test_counts_too_large_for_a_byte_keep_their_value(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(20.0)[:, None]
    in_bytes = all_bootstrap_means(x, resamples=50, seed=1)
    monkeypatch.setattr("agenthard.audit.statistics.resampling._LARGEST_COUNT", 2)
    monkeypatch.setattr("agenthard.audit.statistics.resampling._REMEMBERED_CELLS", 0)
    assert np.array_equal(in_bytes, all_bootstrap_means(x, resamples=50, seed=1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resamples": 0, "seed": 0}, "at least one resample"),
        ({"resamples": 5, "seed": 0, "clusters": ["a"]}, "1 clus"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(bootstrap_means(np.ones((3, 1)), **arguments))  # type: ignore[arg-type]


def test_random_subsets_are_sorted_distinct_and_uniform() -> None:
    subsets = random_subsets(10, 4, 5000, seed=0)
    assert (np.diff(subsets, axis=1) > 0).all()
    # each item is in 4 of 10 subsets: 2000 of 5000, standard deviation sqrt(5000 · .4 · .6) = 35
    assert np.bincount(subsets.ravel()) == pytest.approx([2000] * 10, abs=140)
    with pytest.raises(ValueError, match="1 to 3 items, got 4"):
        random_subsets(3, 4, 1, seed=0)


def test_an_interval_without_values_is_no_interval() -> None:
    assert percentile_interval(np.array([np.nan]), 0.9) == {}
    assert percentile_interval(np.arange(101.0), 0.9) == pytest.approx({"low": 5.0, "high": 95.0, "level": 0.9})
