"""Times the statistics on matrices and embeddings of realistic size: python perf/bench_statistics.py

Each line is timed, then run again under tracemalloc for its peak memory beyond the input. Exit code 1 when a line
exceeds its limit.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agenthard.audit.statistics import (
    ScoreMatrix,
    item_parameters,
    matrix_null,
    mean_nearest_neighbour_distance,
    mean_pairwise_distance,
    model_agreement,
    paired_separability,
    rank_change_nulls,
    separability,
)
from agenthard.audit.statistics.resampling import all_bootstrap_means


@dataclass(frozen=True)
class Line:
    what: str
    run: Callable[[int], object]
    seconds: float | None = None
    mebibytes: float | None = None


def rasch(models: int, tasks: int) -> ScoreMatrix:
    rng = np.random.default_rng(0)
    logits = rng.normal(0.5, 0.8, models)[:, None] - rng.normal(0, 1.3, tasks)
    values = (rng.random((models, tasks)) < 1 / (1 + np.exp(-logits))).astype(int)
    return ScoreMatrix.from_array(values, [f"m{i}" for i in range(models)], [f"t{i}" for i in range(tasks)])


def lines() -> list[Line]:
    small, large = rasch(16, 2000), rasch(71, 1700)
    cleaned = large.take(range(1400))
    embeddings = np.random.default_rng(0).normal(size=(100_000, 384)).astype(np.float32)
    return [
        Line(
            "paired bootstrap, 16 models × 2,000 tasks × 10,000 resamples",
            lambda seed: all_bootstrap_means(small.values.T, resamples=10_000, seed=seed),
            0.5,
            200,
        ),
        Line("separability, 71 × 1,700 × 2,000 resamples", lambda seed: separability(large, seed=seed)),
        Line("paired separability (McNemar, Holm), 71 × 1,700", lambda seed: paired_separability(large)),
        Line(
            "agreement null, 200 draws of 1,400 of 1,700", lambda seed: matrix_null(large, model_agreement, keep=1400)
        ),
        Line(
            "separability null, 200 draws of 1,400 of 1,700", lambda seed: matrix_null(large, separability, keep=1400)
        ),
        Line("rank-change nulls, 1,000 draws of 1,400 of 1,700", lambda seed: rank_change_nulls(large, cleaned)),
        Line("2PL item parameters with errors, 71 × 1,700", lambda seed: item_parameters(large)),
        Line("diversity of 100,000 × 384 embeddings", lambda seed: mean_pairwise_distance(embeddings), 1.0),
        Line(
            "nearest neighbours of 5,000 × 384, exact",
            lambda seed: mean_nearest_neighbour_distance(embeddings[:5000]),
        ),
    ]


def main() -> int:
    over = False
    print(f"{'':<62}{'seconds':>9}{'limit':>7}{'MiB':>7}{'limit':>7}")
    for line in lines():
        start = time.perf_counter()
        line.run(1)
        seconds = time.perf_counter() - start
        tracemalloc.start()
        line.run(2)
        mebibytes = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        limits = [f"{limit:g}" if limit else "" for limit in (line.seconds, line.mebibytes)]
        print(f"{line.what:<62}{seconds:>9.3f}{limits[0]:>7}{mebibytes:>7.0f}{limits[1]:>7}")
        over |= seconds > (line.seconds or np.inf) or mebibytes > (line.mebibytes or np.inf)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
