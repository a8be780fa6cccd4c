"""Random subsets: sizes, clusters and strata are those of the subset in question, and every one is equally likely."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from agenthard.audit.statistics import matching_subsets, plain_subsets


def test_every_subset_of_equal_size_is_equally_likely() -> None:
    found = matching_subsets(np.array([1, 1, 0, 0, 1], bool), draws=10_000, seed=3)
    counts = Counter(tuple(row) for row in found.selected.tolist())
    assert len(counts) == 10 and (found.keep, found.draws, found.total) == (3, 10_000, 5)
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_clusters_leave_as_they_left() -> None:
    # Two of four pairs leave whole, and one task of a third; the single tasks all stay.
    clusters = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "f"]
    kept = np.array([0, 0, 0, 0, 1, 0, 1, 1, 1, 1], bool)
    found = matching_subsets(kept, clusters=clusters, draws=6000, seed=1)
    pairs = found.selected[:, :8].reshape(-1, 4, 2).sum(axis=2)
    assert (np.sort(pairs, axis=1) == [0, 0, 1, 2]).all() and found.selected[:, 8:].all()
    # 4!/2! orders of the pairs, and either task of the half one.
    counts = Counter(tuple(row) for row in found.selected.tolist())
    assert len(counts) == 24 and chisquare(list(counts.values())).pvalue > 0.001


def test_strata_keep_as_many_and_small_ones_are_pooled() -> None:
    strata = ["a"] * 6 + ["b"] * 6 + ["c", "d"]
    kept = np.array([1] * 5 + [0] + [1] * 2 + [0] * 4 + [1, 0], bool)
    found = matching_subsets(kept, strata=strata, draws=500, seed=1)
    assert (found.selected[:, :6].sum(axis=1) == 5).all() and (found.selected[:, 6:12].sum(axis=1) == 2).all()
    assert 0.4 < found.selected[:, 12].mean() < 0.6 and (found.selected[:, 12:].sum(axis=1) == 1).all()
    assert "per domain" in found.design


def test_plain_subsets_have_the_size_and_take_whole_clusters() -> None:
    found = plain_subsets(12, 8, clusters=[f"c{i // 4}" for i in range(12)], draws=300, seed=0)
    assert (found.selected.sum(axis=1) == 8).all()
    assert set(found.selected.reshape(-1, 3, 4).sum(axis=2).ravel().tolist()) == {0, 4}


def test_sums_are_those_of_single_subsets_and_a_seed_reproduces_them() -> None:
    values = np.random.default_rng(0).random((30, 4))
    found, again = (plain_subsets(30, 11, draws=200, seed=9) for _ in range(2))
    assert np.array_equal(found.selected, again.selected)
    assert found.sums(values) == pytest.approx(np.stack([values[row].sum(axis=0) for row in found.selected]))
    assert not np.array_equal(found.selected, plain_subsets(30, 11, draws=200, seed=10).selected)
