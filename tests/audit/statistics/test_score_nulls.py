import numpy as np
import pytest

from agenthard.audit.statistics import (
    NullDistribution,
    ScoreMatrix,
    chance_corrected_agreement,
    matrix_null,
    model_agreement,
    separability,
)
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


@pytest.mark.parametrize("repeated", [False, True])
def test_agreement_nulls_are_those_of_single_matrices(leveled: ScoreMatrix, repeated: bool) -> None:
    scores = repeated_runs() if repeated else leveled
    for found, statistic in zip(
        agreement_nulls(scores, keep=40, draws=300, seed=4), (model_agreement, chance_corrected_agreement), strict=True
    ):
        assert_same(found, matrix_null(scores, statistic, keep=40, draws=300, seed=4))


@pytest.mark.parametrize("clustered", [False, True])
def test_separability_null_is_that_of_single_matrices(leveled: ScoreMatrix, clustered: bool) -> None:
    clusters = {task: f"c{i // 3}" for i, task in enumerate(leveled.tasks)} if clustered else None

    def statistic(part: ScoreMatrix) -> object:
        names = None if clusters is None else [clusters[task] for task in part.tasks]
        return separability(part, resamples=100, seed=6, clusters=names)

    found = separability_null(leveled, keep=50, seed=6, resamples=100, clusters=clusters)
    expected = matrix_null(leveled, statistic, keep=50, seed=6)  # type: ignore[arg-type]
    assert isinstance(found, NullDistribution) and isinstance(expected, NullDistribution)
    assert found == expected


def test_subsets_without_a_value_are_left_out_and_counted() -> None:
    scores = ScoreMatrix.from_array([[1, 1, 1], [0, 1, 1]], "ab", "123")
    plain, corrected = agreement_nulls(scores, keep=2, draws=300)
    assert_same(plain, matrix_null(scores, model_agreement, keep=2, draws=300))
    assert corrected == matrix_null(scores, chance_corrected_agreement, keep=2, draws=300)
    gaps = ScoreMatrix.from_array([[1, 0, 1, 0], [0, 1, None, 1]], "ab", "1234")
    assert_same(agreement_nulls(gaps, keep=3)[0], matrix_null(gaps, model_agreement, keep=3))


@pytest.mark.parametrize("rows", [1, 2, 7, 100, 501, 2000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_interval_ends_are_the_quantiles_of_numpy(rows: int, level: float) -> None:
    means = np.random.default_rng(rows).binomial(30, 0.4, (rows, 6)) / 30
    expected = np.quantile(means, [(1 - level) / 2, 1 - (1 - level) / 2], axis=0)
    assert np.array_equal(interval_ends(means, level), expected)
