"""The reports on two real benchmarks: their numbers from the Parquet tables by a script of its own; equal headlines."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom, binomtest, kendalltau, norm

from agenthard.flows.audit_plan import AuditSettings
from agenthard.reports.cleaning.analysis import analyse, headline
from agenthard.reports.cleaning.counted_scores import CountedScores
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput, load_run
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.runs import ChosenRuns, choose_runs
from agenthard.reports.cleaning.splits import describe_split
from agenthard.reports.cleaning.stability import Groups, ranking_stability
from tests.flows.audits import audit_by_steps

pytestmark = [pytest.mark.corpora, pytest.mark.long]
SINGLE = ("simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "java", "javascript")
SEEDS = 50


@dataclass(frozen=True)
class Real:
    """A finished audit of a real benchmark."""

    folder: Path
    found: CleaningInput


@pytest.fixture(scope="module", params=["tau-bench", "bfcl"])
def real(request: pytest.FixtureRequest, corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    out = tmp_path_factory.mktemp(request.param) / "run"
    logs = corpora / "trajectories"
    if request.param == "tau-bench":
        settings = AuditSettings(
            source="tau-bench",
            path=str(corpora / "tau-bench_59a200c"),
            runs=tuple(str(logs / f"tau1_{domain}.jsonl.gz") for domain in ("airline", "retail")),
            experiments=("paper_run",),
            select=("ground_truth",),
            out=str(out),
        )
    else:
        settings = AuditSettings(
            source="bfcl",
            path=str(corpora / "bfcl_v3_2025-07-17"),
            domains=SINGLE,
            runs=(str(corpora / "bfcl_v1_results" / "bfcl_v1_results_2024-08-11.csv.gz"),),
            select=("call-schema",),
            out=str(out),
        )
    audit_by_steps(settings)
    return Real(out, load_run(out))


def rows(folder: Path, name: str, *columns: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        folder / "tables" / f"{name}.parquet", columns=list(columns)
    ).to_pylist()
    return found


class Script:
    """The scores, from the Parquet tables alone."""

    def __init__(self, folder: Path, models: tuple[str, ...]) -> None:
        self.tasks = [row["id"] for row in rows(folder, "tasks", "id")]
        action = {row["task_id"]: row["action"] for row in rows(folder, "decisions", "task_id", "action")}
        self.kept = [task for task in self.tasks if action[task] != "drop"]
        cell: dict[tuple[str, str], list[bool]] = {}
        for run in rows(folder, "trajectories", "model", "task_id", "passed", "status"):
            if run["status"] not in ("infrastructure_error", "judge_error") and run["passed"] is not None:
                cell.setdefault((run["model"], run["task_id"]), []).append(run["passed"])
        assert max(map(len, cell.values())) == 1
        self.models = models
        self.values = np.array([[cell.get((m, t), [np.nan])[0] for t in self.tasks] for m in models], dtype=float)

    def on(self, tasks: list[str], complete: bool = True) -> np.ndarray:
        there = set(tasks)
        part = self.values[:, [task in there for task in self.tasks]]
        return part[:, ~np.isnan(part).any(axis=0)] if complete else part


def wilson(k: float, n: int) -> tuple[float, float]:
    z, p = norm.ppf(0.975), k / n
    half = z * sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    return (p + z * z / 2 / n - half) / (1 + z * z / n), (p + z * z / 2 / n + half) / (1 + z * z / n)


def holm(p: list[float]) -> list[float]:
    order, worst, adjusted = np.argsort(p), 0.0, [0.0] * len(p)
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = worst
    return adjusted


def figures(script: Script, tasks: list[str]) -> Iterator[tuple[str, float]]:
    """Compute the figures of one split."""
    x, part = script.on(tasks), script.on(tasks, complete=False)
    models, n = x.shape
    pairs = list(combinations(range(models), 2))
    for model, own in zip(script.models, x, strict=True):
        low, high = wilson(own.sum(), n)
        yield from ((f"score {model}", own.mean()), (f"low {model}", low), (f"high {model}", high))
    agreement = np.mean([(x[i] == x[j]).mean() for i, j in pairs])
    p = x.mean(axis=1)
    chance = np.mean([p[i] * p[j] + (1 - p[i]) * (1 - p[j]) for i, j in pairs])
    most = np.mean([1 - abs(p[i] - p[j]) for i, j in pairs])
    yield from (("agreement", agreement), ("agreement_corrected", (agreement - chance) / (most - chance)))
    ends = [(binom.ppf(0.025, n, q) / n, binom.ppf(0.975, n, q) / n) if 0 < q < 1 else (q, q) for q in p]
    apart = sum(ends[i][0] > ends[j][1] + 1e-9 or ends[j][0] > ends[i][1] + 1e-9 for i, j in pairs)
    yield "separability", 100 * apart / len(pairs)
    tests = []
    for i, j in pairs:
        b, c = int(((part[i] == 1) & (part[j] == 0)).sum()), int(((part[i] == 0) & (part[j] == 1)).sum())
        tests.append(binomtest(b, b + c).pvalue if b + c else 1.0)
    yield "significant pairs", 100 * sum(q <= 0.05 for q in holm(tests)) / len(pairs)
    yield "detectable", (norm.ppf(0.975) + norm.ppf(0.8)) * sqrt((1 - agreement) / n)
    share = x.mean(axis=0)
    # KR-20 with the variances of samples of models, as in an analysis of variance
    yield "reliability", n / (n - 1) * (1 - (share * (1 - share)).sum() / x.sum(axis=1).var())
    yield (
        "standard error",
        x.mean(axis=1).std(ddof=1) * sqrt(1 - n / (n - 1) * (1 - (share * (1 - share)).sum() / x.sum(axis=1).var())),
    )


def shown(analysis: CleaningAnalysis, name: str) -> dict[str, float]:
    """Take the same figures from the report."""
    board = next(board for board in analysis.leaderboards if board.split == name)
    split = next(split for split in analysis.splits if split.name == name)
    audited = [stage for stage in analysis.stages if stage.ran and stage.name != "difficulty"]
    stage = audited[0] if name == "initial" else audited[-1]
    found: dict[str, Any] = {}
    for row in board.rows:
        found |= {f"score {row.model}": row.score, f"low {row.model}": row.score, f"high {row.model}": row.score}
    found |= {m.id: m.observed for m in stage.measures if m.id in ("agreement", "agreement_corrected", "separability")}
    found |= {"significant pairs": board.paired_separability, "detectable": split.detectable}
    found |= {"reliability": board.reliability.coefficient, "standard error": board.reliability.standard_error}  # type: ignore[union-attr]
    ends = {"low": "low", "high": "high"}
    return {key: getattr(value, ends.get(key.split()[0], "value")) for key, value in found.items()}


def test_the_numbers_of_the_report_are_those_of_the_tables(real: Real) -> None:
    analysis = analyse(real.found, AnalysisSettings(draws=200, resamples=200))
    models = tuple(row.model for row in analysis.leaderboards[0].rows)
    script = Script(real.folder, models)
    assert len(models) >= 12 and len(script.kept) < len(script.tasks)
    compared = 0
    for name, tasks in (("initial", script.tasks), ("cleaned", script.kept)):
        numbers = shown(analysis, name)
        for key, value in figures(script, tasks):
            assert numbers[key] == pytest.approx(value, abs=1e-3 if key == "detectable" else 1e-9), (name, key)
            compared += 1
        split = next(split for split in analysis.splits if split.name == name)
        assert split.split_id == hashlib.sha256(json.dumps(sorted(tasks)).encode()).hexdigest()[:12]
    before, after = script.on(script.tasks).mean(axis=1), script.on(script.kept).mean(axis=1)
    measures = {measure.id: measure.observed for measure in analysis.stability[0].measures}
    ranks = [np.argsort(np.argsort(-np.round(side, 12), kind="stable")) for side in (before, after)]
    oracle = {
        "change_rate": float((ranks[0] != ranks[1]).mean()),
        "rank_shift": float(np.abs(ranks[0] - ranks[1]).mean()),
        "kendall_tau_b": float(kendalltau(np.round(before, 12), np.round(after, 12)).statistic),
    }
    for key, value in oracle.items():
        assert measures[key].value == pytest.approx(value), key  # type: ignore[union-attr]
        compared += 1
    audited = [stage for stage in analysis.stages if stage.ran and stage.name != "difficulty"]
    assert audited[-1].from_original.value == pytest.approx(1 - len(script.kept) / len(script.tasks))  # type: ignore[union-attr]
    assert compared + 1 >= 30 and comb(len(models), 2) == analysis.leaderboards[0].paired_separability.of  # type: ignore[union-attr]


def test_the_headline_is_equal_for_50_seeds(real: Real) -> None:
    found = real.found
    chosen = choose_runs(found.experiments, found.categories, None, clustered=False, min_verdicts=0.8)
    assert isinstance(chosen, ChosenRuns)
    kept = found.with_action("keep", "unchecked", "review")
    matrix, cleaned = chosen.missing, chosen.missing.keep(kept)
    splits = tuple(
        describe_split(name, part.tasks, review=0, initial=len(found.tasks), matrix=part)  # type: ignore[arg-type]
        for name, part in (("initial", matrix), ("cleaned", cleaned))
    )
    scores = [CountedScores.on_all(part).scores() for part in (matrix, cleaned)]
    sentences = set()
    for seed in range(SEEDS):
        settings, groups = AnalysisSettings(seed=seed), Groups(found.clusters, found.categories)
        row = ranking_stability(*splits, *scores, matrix, cleaned, "errors_missing", settings, groups)  # type: ignore[misc, arg-type]
        sentences.add(headline(found, splits, (row,)).sentence)
    assert len(sentences) == 1
