from collections.abc import Callable

import numpy as np
import pytest

from agenthard.audit.statistics import (
    NullDistribution,
    Result,
    ScoreMatrix,
    SubsetDraws,
    chance_corrected_agreement,
    model_agreement,
    plain_subsets,
    separability,
)
from agenthard.audit.statistics.nulls import null_of
from agenthard.audit.statistics.score_nulls import agreement_nulls, separability_null
from agenthard.audit.statistics.separation import interval_ends


def repeated_runs() -> ScoreMatrix:
    """Five models with three runs per task."""
    rng = np.random.default_rng(3)
    passed = rng.binomial(3, np.linspace(0.2, 0.8, 5)[:, None], (5, 60)).astype(np.int32)
    zeros = np.zeros(passed.shape, np.int32)
    tasks = tuple(f"t{i}" for i in range(60))
    return ScoreMatrix(tuple("abcde"), tasks, passed, zeros + 3, zeros, zeros.astype(np.int8))


def assert_same(found: object, expected: object) -> None:
    assert isinstance(found, NullDistribution) and isinstance(expected, NullDistribution)
    assert found.values == pytest.approx(expected.values, abs=1e-12)
    assert found.model_dump(include={"n", "of", "draws", "of_draws", "seed", "method"}) == expected.model_dump(
        include={"n", "of", "draws", "of_draws", "seed", "method"}
    )


def one_by_one(matrix: ScoreMatrix, statistic: Callable[[ScoreMatrix], Result], subsets: SubsetDraws) -> object:
    return null_of(lambda positions: statistic(matrix.take(positions)), subsets)


@pytest.mark.parametrize("repeated", [False, True])
def test_agreement_nulls_are_those_of_single_matrices(leveled: ScoreMatrix, repeated: bool) -> None:
    scores = repeated_runs() if repeated else leveled
    subsets = plain_subsets(len(scores.tasks), 40, draws=300, seed=4)
    found = agreement_nulls(scores, subsets)
    for null, statistic in zip(found, (model_agreement, chance_corrected_agreement), strict=True):
        assert_same(null, one_by_one(scores, statistic, subsets))


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_separability_null_is_that_of_single_matrices(leveled: ScoreMatrix, clustered: bool, repeated: bool) -> None:
    scores = repeated_runs() if repeated else leveled
    names = {task: f"c{i // 3}" for i, task in enumerate(scores.tasks)} if clustered else None

    def statistic(part: ScoreMatrix) -> Result:
        own = None if names is None else [names[task] for task in part.tasks]
        return separability(part, resamples=100, seed=6, clusters=own)

    clusters = None if names is None else list(names.values())
    subsets = plain_subsets(len(scores.tasks), 30, clusters=clusters, draws=200, seed=6)
    found = separability_null(scores, subsets, seed=6, resamples=100, clusters=clusters)
    assert_same(found, one_by_one(scores, statistic, subsets))


def test_subsets_without_a_value_are_left_out_and_counted() -> None:
    scores = ScoreMatrix.from_array([[1, 1, 1], [0, 1, 1]], "ab", "123")
    subsets = plain_subsets(3, 2, draws=300, seed=0)
    plain, corrected = agreement_nulls(scores, subsets)
    assert_same(plain, one_by_one(scores, model_agreement, subsets))
    assert corrected == one_by_one(scores, chance_corrected_agreement, subsets)
    gaps = ScoreMatrix.from_array([[1, 0, 1, 0], [0, 1, None, 1]], "ab", "1234")
    subsets = plain_subsets(4, 3, draws=200, seed=0)
    assert_same(agreement_nulls(gaps, subsets)[0], one_by_one(gaps, model_agreement, subsets))


@pytest.mark.parametrize("rows", [1, 2, 7, 100, 501, 2000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_interval_ends_are_the_quantiles_of_numpy(rows: int, level: float) -> None:
    means = np.random.default_rng(rows).binomial(30, 0.4, (rows, 6)) / 30
    expected = np.quantile(means, [(1 - level) / 2, 1 - (1 - level) / 2], axis=0)
    assert np.array_equal(interval_ends(means, level), expected)
