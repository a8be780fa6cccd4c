"""Reliability and variance components: equal to textbook formulas, and to the truth of simulations."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import f

from agenthard.audit.statistics import (
    Estimate,
    Reliability,
    ScoreMatrix,
    Undefined,
    facet_variance,
    matrix_from_rows,
    pass_at_k,
    pass_hat_k,
    reliability,
    trial_counts,
)

Build = Callable[[ArrayLike], ScoreMatrix]


def trials(passed: np.ndarray, runs: int) -> ScoreMatrix:
    zeros = np.zeros(passed.shape, np.int32)
    models, tasks = ([f"{kind}{i}" for i in range(n)] for kind, n in zip("mt", passed.shape, strict=True))
    return ScoreMatrix(tuple(models), tuple(tasks), passed.astype(np.int32), zeros + runs, zeros, zeros.astype(np.int8))


def value(result: object) -> float:
    assert isinstance(result, Estimate), result
    return result.value


def test_single_runs_give_kr20_with_feldts_interval(leveled: ScoreMatrix) -> None:
    found = reliability(leveled)
    assert isinstance(found, Reliability) and isinstance(found.coefficient, Estimate)
    x, n = leveled.values, len(leveled.tasks)
    p = x.mean(axis=0)
    kr20 = n / (n - 1) * (1 - (p * (1 - p)).sum() / x.sum(axis=1).var())
    assert found.coefficient.value == pytest.approx(kr20)
    assert "KR-20" in found.coefficient.method
    ends = [1 - (1 - kr20) * f.ppf(q, 7, 7 * (n - 1)) for q in (0.975, 0.025)]
    assert [found.coefficient.low, found.coefficient.high] == pytest.approx(ends)
    # classical test theory: SEM = s √(1 − reliability), with the unbiased s
    assert value(found.standard_error) == pytest.approx(x.mean(axis=1).std(ddof=1) * np.sqrt(1 - kr20))
    assert isinstance(found.trial, Undefined)
    assert sum(map(value, (found.model, found.task, found.model_by_task))) == pytest.approx(1)


def test_components_are_those_of_the_simulation() -> None:
    rng = np.random.default_rng(8)
    models, tasks, runs = 60, 400, 4
    p = 0.5 + rng.normal(0, 0.08, models)[:, None] + rng.normal(0, 0.15, tasks) + rng.normal(0, 0.1, (models, tasks))
    p = p.clip(0.02, 0.98)
    found = reliability(trials(rng.binomial(runs, p), runs))
    assert isinstance(found, Reliability)
    parts = {"model": p.mean(axis=1).var(), "task": p.mean(axis=0).var(), "trial": (p * (1 - p)).mean()}
    residual = p - p.mean(axis=1)[:, None] - p.mean(axis=0) + p.mean()
    parts["model_by_task"] = residual.var()
    total = sum(parts.values())
    for name, part in parts.items():
        assert value(getattr(found, name)) == pytest.approx(part / total, abs=0.006), name
    error = (residual.var() + parts["trial"] / runs) / tasks
    assert value(found.standard_error) == pytest.approx(np.sqrt(error), rel=0.03)
    assert value(found.coefficient) == pytest.approx(1 - error / (p.mean(axis=1).var() + error), abs=0.005)


def test_clones_of_a_task_do_not_count_as_tasks(matrix: Build) -> None:
    rng = np.random.default_rng(3)
    base = (rng.random((8, 30)) < 0.5).astype(int)  # no model is better than another
    clones = matrix(np.repeat(base, 10, axis=1))
    names = [f"c{i // 10}" for i in range(300)]
    plain, clustered = reliability(clones), reliability(clones, clusters=names)
    single = reliability(matrix(base))
    assert isinstance(plain, Reliability) and isinstance(clustered, Reliability) and isinstance(single, Reliability)
    assert value(clustered.coefficient) == pytest.approx(value(single.coefficient))
    assert value(plain.coefficient) > value(clustered.coefficient) + 0.5


def test_what_has_no_variance_is_undefined(matrix: Build) -> None:
    assert isinstance(reliability(matrix([[1, 0]])), Undefined)
    equal = reliability(matrix([[1, 0, 1], [1, 1, 0]]))
    assert isinstance(equal, Reliability) and isinstance(equal.coefficient, Undefined)


def test_the_variance_of_a_facet_is_that_of_the_simulation() -> None:
    rng = np.random.default_rng(4)
    rows = []
    for cell in range(600):
        for simulator in range(3):
            shift = rng.normal(0, 0.3)
            rows += [(cell, simulator, shift + rng.normal(0, 0.5)) for _ in range(2)]
    assert value(facet_variance(rows, "user simulator")) == pytest.approx(0.09, abs=0.015)
    single = [row for i, row in enumerate(rows) if i % 2]
    found = facet_variance(single, "judge")
    assert isinstance(found, Estimate) and found.value == pytest.approx(0.34, abs=0.03)
    assert "repetition is part of it" in found.method and (found.n, found.of) == (600, 600)
    assert isinstance(facet_variance([(1, "a", 1.0), (2, "b", 0.0)], "judge"), Undefined)


@pytest.mark.corpora
def test_pass_hat_k_of_gpt_4o_is_that_of_the_tau_bench_paper(corpora: Path) -> None:
    lines = gzip.decompress((corpora / "trajectories" / "rewards.jsonl.gz").read_bytes()).decode().splitlines()
    official = [row for row in map(json.loads, lines) if row["protocol"] == "official" and row["domain"] == "airline"]
    counts = trial_counts(matrix_from_rows([row | {"task": row["task_id"]} for row in official]), official[0]["model"])
    # Published for gpt-4o on the airline domain: pass^1 to pass^4.
    assert [round(value(pass_hat_k(counts, k)), 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]
    assert value(pass_at_k(counts, 4)) == pytest.approx(np.mean([c > 0 for c, _ in counts]))
