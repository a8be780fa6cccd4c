"""Inputs that several tests of the statistics share."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from agenthard.audit.statistics import ScoreMatrix

# τ-bench, 16 models in initial rank order: initial, issue-filtered, hard (the audit paper's table).
PUBLISHED = """.685 .711 .652 · .667 .719 .697 · .667 .686 .629 · .642 .636 .573 · .636 .645 .596 · .624 .669 .618 ·
.624 .669 .640 · .594 .603 .573 · .588 .579 .528 · .582 .620 .551 · .558 .562 .539 · .479 .512 .461 ·
.455 .471 .449 · .436 .463 .382 · .406 .430 .404 · .194 .174 .146"""


@pytest.fixture(scope="session")
def published() -> dict[str, dict[str, float]]:
    """Version → model → score."""
    rows = [tuple(map(float, row.split())) for row in PUBLISHED.split("·")]
    assert len(rows) == 16
    versions = ("initial", "issue-filtered", "hard")
    return {name: {f"m{i:02d}": row[column] for i, row in enumerate(rows)} for column, name in enumerate(versions)}


@pytest.fixture(scope="session")
def matrix() -> Callable[[ArrayLike], ScoreMatrix]:
    """Builds a matrix with models m0, m1, ... and tasks t0, t1, ..."""

    def build(values: ArrayLike) -> ScoreMatrix:
        shape = np.asarray(values, dtype=object).shape
        return ScoreMatrix.from_array(values, [f"m{i}" for i in range(shape[0])], [f"t{i}" for i in range(shape[1])])

    return build


@pytest.fixture(scope="session")
def leveled(matrix: Callable[[ArrayLike], ScoreMatrix]) -> ScoreMatrix:
    """8 models × 120 tasks from a Rasch model: agreeing as real models do, with scores from about .3 to .8."""
    rng = np.random.default_rng(11)
    logits = np.linspace(-1, 1.5, 8)[:, None] - rng.normal(0, 1.2, 120)
    return matrix((rng.random((8, 120)) < 1 / (1 + np.exp(-logits))).astype(int))
