"""

Diversity of prompts: the listed neighbours give what the exact search gives.
"""

import builtins
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist

from agenthard.audit.statistics import (
    Estimate,
    HashingEmbedder,
    NullDistribution,
    PromptSpace,
    SentenceTransformerEmbedder,
    TfidfEmbedder,
    Undefined,
    embedder,
    mean_nearest_neighbour_distance,
    mean_pairwise_distance,
    plain_subsets,
    random_subset_null,
)
from agenthard.taxonomy.errors import MissingExtraError

VECTORS = arrays(np.int8, st.tuples(st.integers(2, 8), st.integers(2, 4)), elements=st.integers(-3, 3))
TEXTS = ["book a flight to Paris", "book a flight to Rome", "cancel my order", "", "what is the weather"]


def value(result: object) -> float:
    assert isinstance(result, Estimate)
    return result.value


@given(VECTORS)
def test_the_closed_form_is_the_mean_of_all_pairs(vectors: np.ndarray) -> None:
    kept = vectors[(vectors != 0).any(axis=1)].astype(float)
    for given_vectors in (vectors, vectors.astype(np.float32), csr_array(vectors.astype(float))):
        result, nearest = mean_pairwise_distance(given_vectors), mean_nearest_neighbour_distance(given_vectors)
        if len(kept) < 2:
            assert isinstance(result, Undefined) and isinstance(nearest, Undefined)
            continue
        assert isinstance(result, Estimate) and (result.n, result.of) == (len(kept), len(vectors))
        assert result.value == pytest.approx(pdist(kept, "cosine").mean(), abs=1e-9)
        assert -1e-12 <= result.value <= 2
        distances = cdist(kept, kept, "cosine")
        np.fill_diagonal(distances, np.inf)
        assert value(nearest) == pytest.approx(distances.min(axis=1).mean(), abs=1e-9)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=(50, 7))
    whole = value(mean_pairwise_distance(x)), value(mean_nearest_neighbour_distance(x))
    monkeypatch.setattr("agenthard.audit.statistics.diversity._BLOCK_CELLS", 120)
    assert (value(mean_pairwise_distance(x)), value(mean_nearest_neighbour_distance(x))) == pytest.approx(whole)


def test_every_prompt_twice_has_near_neighbours_only() -> None:
    x = np.random.default_rng(0).normal(size=(20, 7))
    twice = np.vstack([x, x])
    assert value(mean_nearest_neighbour_distance(twice)) == pytest.approx(0, abs=1e-12)
    assert value(mean_pairwise_distance(twice)) > 0.9


def test_diversity_has_a_random_subset_null() -> None:
    x = np.random.default_rng(0).normal(size=(60, 5))
    null = random_subset_null(lambda positions: mean_pairwise_distance(x[positions]), total=60, keep=30)
    assert not isinstance(null, Undefined)
    # the mean over random subsets estimates the mean over all pairs without bias
    assert null.mean == pytest.approx(value(mean_pairwise_distance(x)), abs=0.01)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_is_undefined(bad: float) -> None:
    for statistic in (mean_pairwise_distance, mean_nearest_neighbour_distance):
        result = statistic(np.array([[1.0, bad], [0.0, 1.0], [1.0, 1.0]]))
        assert isinstance(result, Undefined) and "NaN" in result.reason
        assert isinstance(statistic(np.zeros((0, 3))), Undefined)
        assert isinstance(statistic(np.ones((1, 3))), Undefined)


@pytest.mark.parametrize("name", ["tfidf", "hashing"])
def test_texts_about_the_same_are_close_and_empty_ones_have_no_direction(name: str) -> None:
    vectors = embedder(name).embed(TEXTS)
    assert vectors.shape[0] == 5
    result = mean_pairwise_distance(vectors)
    assert isinstance(result, Estimate) and (result.n, result.of) == (4, 5)
    alike, apart = mean_pairwise_distance(vectors[[0, 1]]), mean_pairwise_distance(vectors[[0, 2]])
    assert value(alike) < value(apart)
    assert isinstance(mean_pairwise_distance(embedder(name).embed(["", "?"])), Undefined)
    assert isinstance(mean_pairwise_distance(embedder(name).embed([])), Undefined)


def test_hashed_rows_do_not_depend_on_the_other_texts() -> None:
    assert (HashingEmbedder().embed(TEXTS)[[0]] != HashingEmbedder().embed(TEXTS[:1])).nnz == 0
    assert TfidfEmbedder().embed(TEXTS)[[0]].shape != TfidfEmbedder().embed(TEXTS[:1]).shape


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for make in (SentenceTransformerEmbedder, lambda: embedder("sentence-transformers:some/model")):
        with pytest.raises(MissingExtraError, match=r"pip install 'agenthard\[embed\]'"):
            make()


def test_sentence_transformers_stands_behind_the_same_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, name: str) -> None:
            self.name = name

        def encode(self, texts: list[str], show_progress_bar: bool) -> Any:
            return np.array([[len(text) + 1.0, 1.0] for text in texts], dtype=np.float32)

    library = type(builtins)("sentence_transformers")
    library.SentenceTransformer = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    chosen = embedder("sentence-transformers:some/model")
    assert chosen.name == "sentence-transformers:some/model"
    assert chosen.embed(["abc", " "]).tolist() == [[4, 1], [0, 0]]


def test_an_unknown_embedder_is_named() -> None:
    with pytest.raises(ValueError, match="unknown embedder 'word2vec': use tfidf"):
        embedder("word2vec")


WORDS = [f"word{i}" for i in range(30)]


def texts(n: int) -> list[str]:
    rng = np.random.default_rng(4)
    return [" ".join(rng.choice(WORDS, 6)) for _ in range(n)]


@pytest.mark.parametrize("neighbours", [1, 3, 64])
def test_the_null_of_the_nearest_neighbour_is_exact_with_any_number_of_listed_neighbours(
    neighbours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agenthard.audit.statistics.diversity._NEIGHBOURS", neighbours)
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
    assert isinstance(space.nearest_null(plain_subsets(3, 2, draws=200, seed=0)), Undefined)


def test_nulls_are_reproducible() -> None:
    space = PromptSpace(texts(20))
    first, again = (space.nearest_null(plain_subsets(20, 10, draws=200, seed=3)) for _ in range(2))
    assert isinstance(first, NullDistribution) and first == again


def test_tfidf_is_scikit_learns_to_the_last_bit() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["Book a flight to Oslo, a cheap flight", "cancel the flight", "", "a b", "Straße nach Oslo; cancel Oslo"]
    expected, found = TfidfVectorizer().fit_transform(texts), TfidfEmbedder().embed(texts)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(expected, part), getattr(found, part)), part


def test_the_pairwise_null_is_that_of_rows_taken_out() -> None:
    space = PromptSpace([f"lend book {i} to member {i % 7} until day {i % 5}" for i in range(40)])
    taken = random_subset_null(space.pairwise, total=40, keep=17, draws=200, seed=3)
    found = space.pairwise_null(plain_subsets(40, 17, draws=200, seed=3))
    assert isinstance(found, NullDistribution) and isinstance(taken, NullDistribution)
    assert found.values == pytest.approx(taken.values, abs=1e-12)
    assert (
        found.model_copy(update={"values": taken.values, "mean": taken.mean, "low": taken.low, "high": taken.high})
        == taken
    )
