"""Two real rounds of runs of the same models: nothing is found between them, and re-keyed tasks are."""

import gzip
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agenthard.audit.statistics import ScoreMatrix
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.comparison.scores import ScoreComparison, compare_scores

pytestmark = pytest.mark.corpora
SETTINGS = AnalysisSettings(draws=2000, resamples=100)


@pytest.fixture(scope="module")
def rounds(corpora: Path) -> tuple[ScoreMatrix, ScoreMatrix]:
    """The first two complete runs of each model on τ²-bench airline, on the tasks that all have."""
    files: dict[tuple[str, str, int], dict[str, int]] = defaultdict(dict)
    with gzip.open(corpora / "trajectories" / "tau2_airline.jsonl.gz", "rt") as lines:
        for run in map(json.loads, lines):
            if run["protocol"].startswith("paper") and not run["model"].startswith("unknown"):
                files[run["model"], run["source_file"], run["trial"]][str(run["task_id"])] = int(run["reward"])
    by_model: dict[str, list[dict[str, int]]] = defaultdict(list)
    for (model, *_), outcomes in sorted(files.items()):
        if len(outcomes) >= 45:
            by_model[model].append(outcomes)
    twice = {model: own[:2] for model, own in by_model.items() if len(own) >= 2}
    tasks = sorted(set.intersection(*(set(each) for own in twice.values() for each in own)), key=int)
    sides = [[[own[side][task] for task in tasks] for own in twice.values()] for side in (0, 1)]
    first, second = (ScoreMatrix.from_array(values, list(twice), tasks) for values in sides)
    return first, second


def found(comparison: ScoreComparison) -> bool:
    return any(m.verdict == "beyond" for m in comparison.measures) or any(f.rescored for f in comparison.flips)


def test_two_real_rounds_are_not_told_apart(rounds: tuple[ScoreMatrix, ScoreMatrix]) -> None:
    first, second = rounds
    assert len(first.models) == 7 and len(first.tasks) >= 45
    comparison = compare_scores(first, second, SETTINGS)
    assert len(comparison.flips) > 20  # single runs differ on most tasks
    assert not found(comparison) and "nothing exceeds chance" in comparison.sentence
    # 2 · 4⁻⁷ · 45 tasks = .005 for all seven, 45 · .0027 = .12 for six of them.
    assert comparison.sentence.endswith("where all 7 models move one way.")


def test_tasks_that_are_keyed_again_are_found(rounds: tuple[ScoreMatrix, ScoreMatrix]) -> None:
    # One file of scores under two keys: 5 % of the tasks of the second round are inverted. With 7 models a task can be
    # told from noise where all of them agree in both rounds; then all 7 move one way.
    first, second = rounds
    agreeing = np.flatnonzero(np.ptp(np.vstack([first.values, second.values]), axis=0) == 0)
    number = round(0.05 * len(first.tasks))
    seen = named = wrong = 0
    for seed in range(6):
        keyed = np.random.default_rng(seed).choice(agreeing, number, replace=False)
        passed = second.passed.copy()
        passed[:, keyed] = 1 - passed[:, keyed]
        comparison = compare_scores(first, replace(second, passed=passed), SETTINGS)
        named_here = {flip.task_id for flip in comparison.flips if flip.rescored}
        truth = {first.tasks[i] for i in keyed}
        seen += found(comparison)
        named += len(named_here & truth)
        wrong += len(named_here - truth)
    assert (seen, named, wrong) == (6, 6 * number, 0)


def test_of_random_tasks_keyed_again_some_are_named_and_noise_never_is(
    rounds: tuple[ScoreMatrix, ScoreMatrix],
) -> None:
    first, second = rounds
    number = round(0.05 * len(first.tasks))
    named = wrong = 0
    for seed in range(20):
        keyed = np.random.default_rng(seed).choice(len(first.tasks), number, replace=False)
        passed = second.passed.copy()
        passed[:, keyed] = 1 - passed[:, keyed]
        comparison = compare_scores(first, replace(second, passed=passed), SETTINGS)
        named_here = {flip.task_id for flip in comparison.flips if flip.rescored}
        named += len(named_here & {first.tasks[i] for i in keyed})
        wrong += len(named_here - {first.tasks[i] for i in keyed})
    assert wrong == 0 and named >= 1
