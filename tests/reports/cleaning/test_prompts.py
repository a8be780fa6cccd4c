"""Diversity of prompts: the listed neighbours give what the exact search gives."""

import numpy as np
import pytest

from agenthard.audit.statistics import Estimate, NullDistribution, Undefined
from agenthard.reports.cleaning import prompts
from agenthard.reports.cleaning.prompts import PromptSpace

WORDS = [f"word{i}" for i in range(30)]


def texts(n: int) -> list[str]:
    rng = np.random.default_rng(4)
    return [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]


@pytest.mark.parametrize("neighbours", [1, 3, 64])
def test_the_null_of_the_nearest_neighbour_is_exact_with_any_number_of_listed_neighbours(
    neighbours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "_NEIGHBOURS", neighbours)
    space = PromptSpace([*texts(60), "", "   "])
    for seed in range(20):
        drawn = np.sort(np.random.default_rng(seed).choice(62, 12, replace=False))
        exact, listed = space.nearest(drawn), space._listed_nearest(drawn)
        assert isinstance(exact, Estimate) and isinstance(listed, Estimate)
        assert listed.value == pytest.approx(exact.value, abs=1e-12)
        assert (listed.n, listed.of) == (exact.n, exact.of)


def test_clones_are_at_distance_zero() -> None:
    space = PromptSpace(["lend the red book", "lend the red book", "pay the fine now"])
    found = space.nearest(np.array([0, 1]))
    assert isinstance(found, Estimate) and found.value == pytest.approx(0, abs=1e-12)
    listed = space._listed_nearest(np.array([0, 1]))
    assert isinstance(listed, Estimate) and listed.value == pytest.approx(0, abs=1e-12)


def test_prompts_without_words_have_a_reason() -> None:
    space = PromptSpace(["", "", ""])
    assert isinstance(space.pairwise(np.array([0, 1])), Undefined)
    assert isinstance(space.nearest_null(2, 200, 0), Undefined)


def test_nulls_are_reproducible() -> None:
    space = PromptSpace(texts(20))
    first, again = space.nearest_null(10, 200, 3), space.nearest_null(10, 200, 3)
    assert isinstance(first, NullDistribution) and first == again
