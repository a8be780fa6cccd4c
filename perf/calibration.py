"""Simulates what the statistics promise: python perf/calibration.py [--quick] [PART ...] [MATRIX ...]

Prints, per promise, the nominal value and what was measured, as a Markdown table. Parts: rounds, deletion, ranks,
power, keys. In each MATRIX, a table of scores, keys are inverted. With --quick a tenth of the simulations. Exit code 1
when a measured value breaks its promise by more than three standard errors of the simulation.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import (
    Estimate,
    ScoreMatrix,
    Undefined,
    adjusted,
    compare_pairs,
    detectable_by_test,
    detectable_difference,
    inverted_keys,
    rank_change_nulls,
    rank_sets,
    read_matrix,
    tasks_needed,
    verdict,
)
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.comparison.scores import compare_scores

SEED = 1


@dataclass(frozen=True)
class Row:
    """One promise."""

    what: str
    size: str
    nominal: str
    measured: float
    simulations: int
    least: float = 0.0
    most: float = 1.0

    @property
    def kept(self) -> bool:
        """Whether the promise holds within three standard errors."""
        slack = 3 * sqrt(max(self.measured * (1 - self.measured), 1e-4) / self.simulations)
        return self.least - slack <= self.measured <= self.most + slack


def chances(models: int, tasks: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Probabilities of passing, as spread as those of τ-bench's models and tasks."""
    logits = rng.normal(0.3, 0.7, models)[:, None] - rng.normal(0, 1.4, tasks)
    return np.asarray(1 / (1 + np.exp(-logits)))


def runs(p: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """One round of runs."""
    return np.asarray(rng.random(p.shape) < p)


def matrix(values: NDArray[np.bool_]) -> ScoreMatrix:
    """Name models m0, m1 … and tasks t0, t1 …"""
    models, tasks = values.shape
    counts = values.astype(np.int32)
    zeros = np.zeros(values.shape, np.int32)
    return ScoreMatrix(
        tuple(f"m{i}" for i in range(models)),
        tuple(f"t{i}" for i in range(tasks)),
        counts,
        zeros + 1,
        zeros,
        zeros.astype(np.int8),
    )


def rounds(share: float) -> Iterator[Row]:
    """``compare``: two rounds of runs of the same models; then with 5 % of the tasks re-keyed."""
    settings = AnalysisSettings(draws=999, resamples=50)
    for models, tasks in ((16, 165), (50, 900), (71, 1700)):
        simulations, alarms = max(20, int(400 * share)), 0
        found = planted = wrong = seen = 0
        for number in range(simulations):
            rng = np.random.default_rng([SEED, models, number])
            p = chances(models, tasks, rng)
            first, second = runs(p, rng), runs(p, rng)
            same = compare_scores(matrix(first), matrix(second), settings)
            alarms += any(m.verdict == "beyond" for m in same.measures) or any(f.rescored for f in same.flips)
            if number % 10 == 0:
                keyed = set(rng.choice(tasks, tasks // 20, replace=False).tolist())
                columns = sorted(keyed)
                second[:, columns] = ~second[:, columns]
                other = compare_scores(matrix(first), matrix(second), settings)
                named = {int(f.task_id[1:]) for f in other.flips if f.rescored}
                found, planted, wrong = found + len(named & keyed), planted + len(keyed), wrong + len(named - keyed)
                seen += any(m.verdict == "beyond" for m in other.measures)
        size, some = f"{models} × {tasks:,}", len(range(0, simulations, 10))
        yield Row(
            "two rounds of equal runs told apart by `compare`",
            size,
            "≤ .05",
            alarms / simulations,
            simulations,
            most=0.05,
        )
        yield Row("5 % of the tasks re-keyed: seen", size, "high", seen / some, some)
        yield Row("… share of the re-keyed tasks named", size, "high", found / planted, planted)
        yield Row(
            "… share of the named tasks that were not",
            size,
            "≤ .05",
            wrong / max(1, wrong + found),
            max(1, wrong + found),
            most=0.05,
        )


def deletion(share: float) -> Iterator[Row]:
    """The family of rank changes where the deletion was random: tasks, whole clusters, within domains."""
    simulations = max(20, int(400 * share))

    def alarms(models: int, base: int, clones: int, leave: int, domains: int = 1) -> float:
        count = 0
        for number in range(simulations):
            rng = np.random.default_rng([SEED, base, clones, number])
            p = np.repeat(chances(models, base, rng), clones, axis=1)
            board = matrix(runs(p, rng))
            names = {task: f"c{i // clones}" for i, task in enumerate(board.tasks)} if clones > 1 else None
            strata = {task: f"d{i * domains // len(board.tasks)}" for i, task in enumerate(board.tasks)}
            gone = rng.choice(base, leave, replace=False)
            kept = [task for i, task in enumerate(board.tasks) if i // clones not in gone]
            nulls = rank_change_nulls(
                board, board.keep(kept), draws=1999, seed=number, clusters=names, strata=strata if domains > 1 else None
            )
            assert not isinstance(nulls, Undefined)
            figures = [getattr(nulls, name) for name in type(nulls).model_fields]
            family = adjusted([each.p for each in figures if not isinstance(each, Undefined) and each.p])
            count += any(verdict(p, 0.05) == "beyond" for p in family)
        return count / simulations

    for what, arguments in (
        ("random tasks deleted: any figure alarms", (16, 165, 1, 44)),
        ("random tasks deleted, two domains", (16, 165, 1, 44, 2)),
        ("whole clusters of 4 clones deleted", (16, 50, 4, 13)),
    ):
        models, base, clones, leave = arguments[:4]
        size = f"{models} × {base * clones}, {leave * clones} deleted"
        yield Row(what, size, "≤ .05", alarms(*arguments), simulations, most=0.05)


def ranks(share: float) -> Iterator[Row]:
    """Ranges of ranks: do they hold the true rank of the observed leader, and of all models together?

    Abilities stay, tasks and outcomes are drawn again each time, so that the true ranks are those of the abilities.
    """
    simulations = max(20, int(1000 * share))
    for what, spread, tasks in (
        ("as far apart as on τ-bench", 0.7, 165),
        ("as far apart as on τ-bench", 0.7, 50),
        ("close together", 0.15, 165),
        ("close together", 0.15, 50),
    ):
        leader = everyone = 0
        for number in range(simulations):
            rng = np.random.default_rng([SEED, tasks, int(100 * spread), number])
            ability = np.sort(rng.normal(0.3, spread, 16))[::-1]
            p = 1 / (1 + np.exp(-(ability[:, None] - rng.normal(0, 1.4, tasks))))
            board = matrix(runs(p, rng))
            pairs = compare_pairs(board)
            found = rank_sets(board.scores(), () if isinstance(pairs, Undefined) else pairs)
            held = [_within(found[f"m{i}"], i + 1) for i in range(16)]
            leader += held[int(next(iter(found)).removeprefix("m"))]
            everyone += all(held)
        size = f"16 × {tasks}, models {what}"
        yield Row("rank of the observed leader in its range", size, "≥ .95", leader / simulations, simulations, 0.95)
        yield Row("all 16 ranks in their ranges at once", size, "≥ .95", everyone / simulations, simulations, 0.95)


def _within(found: Estimate, rank: int) -> bool:
    assert found.low is not None and found.high is not None
    return found.low <= rank <= found.high


def keys(share: float) -> Iterator[Row]:
    """``inverted_keys``: 5 % of the tasks of one round of runs have an inverted key."""
    for models, tasks in ((16, 165), (40, 500), (71, 1700)):
        simulations = max(20, int(100 * share))
        planted = found = named = sound = 0
        for number in range(simulations):
            rng = np.random.default_rng([SEED, models, number])
            outcomes = runs(chances(models, tasks, rng), rng)
            before = inverted_keys(matrix(outcomes))
            assert not isinstance(before, Undefined)
            sound += len(before.likely())
            keyed = rng.choice(tasks, tasks // 20, replace=False)
            outcomes[:, keyed] = ~outcomes[:, keyed]
            after = inverted_keys(matrix(outcomes))
            assert not isinstance(after, Undefined)
            likely = {int(task[1:]) for task in after.likely()}
            planted, named = planted + len(keyed), named + len(likely)
            found += len(likely & set(keyed.tolist()))
        size = f"{models} × {tasks:,}"
        yield Row("5 % of the keys inverted: share found", size, "high", found / planted, planted)
        yield Row("… share of the named tasks that are sound", size, "≤ .5", 1 - found / max(1, named), named, most=0.5)
        cells = simulations * tasks
        yield Row("no key inverted: share of the tasks named", size, "low", sound / cells, cells)


def planted(path: Path, share: float) -> Iterator[Row]:
    """``inverted_keys``: 5 % of the keys of a table of real scores are inverted, again and again."""
    table = read_matrix(path).complete_models()
    before = inverted_keys(table)
    assert not isinstance(before, Undefined)
    known, outcomes = set(before.likely()), table.values > 0
    mixed = sorted(before.probabilities)
    number, simulations = len(table.tasks) // 20, max(5, int(100 * share))
    found = false = 0
    for seed in range(simulations):
        keyed = set(np.random.default_rng([SEED, seed]).choice(mixed, number, replace=False).tolist())
        columns = [table.tasks.index(task) for task in keyed]
        values = outcomes.astype(float)
        values[:, columns] = 1 - values[:, columns]
        after = inverted_keys(ScoreMatrix.from_array(values, table.models, table.tasks))
        assert not isinstance(after, Undefined)
        found, false = found + len(set(after.likely()) & keyed), false + len(set(after.likely()) - keyed - known)
    size = f"{path.name.partition('.')[0]}, {len(table.models)} × {len(table.tasks):,}"
    yield Row("5 % of the keys inverted: share found", size, "high", found / (number * simulations), simulations)
    yield Row("… sound tasks named per planted key", size, "low", false / (number * simulations), simulations)
    yield Row("nothing inverted: share of the tasks named", size, "low", len(known) / len(table.tasks), 1)


DISAGREEMENT = 0.34
"""Share of tasks on which two models differ, as on τ-bench."""


def power(share: float) -> Iterator[Row]:
    """``detectable_by_test`` and ``tasks_needed``: how often two models are told apart, all pairs tested together."""
    simulations = max(20, int(400 * share))
    for models, tasks in ((16, 165), (50, 900), (71, 1700)):
        pairs = models * (models - 1) // 2
        least, alone = detectable_by_test(tasks, DISAGREEMENT, pairs=pairs), detectable_difference(tasks, 0.66)
        assert isinstance(least, Estimate) and isinstance(alone, Estimate)
        size = f"{models} × {tasks:,}"
        found, few = (_told_apart(models, tasks, gap, simulations) for gap in (least.value, alone.value))
        yield Row("a difference of the detectable size is found", size, "≥ .80", found, simulations, least=0.8)
        yield Row("… of the size that one test alone detects", size, "–", few, simulations)
    needed = tasks_needed(0.15, DISAGREEMENT, pairs=120)
    assert needed is not None
    found = _told_apart(16, needed, 0.15, simulations)
    size = f"16 × {needed:,}, 15 points"
    yield Row("as many tasks as a difference is said to need", size, "about .80", found, simulations, 0.75)


def _told_apart(models: int, tasks: int, gap: float, simulations: int) -> float:
    """How often the first two of some models, which differ by a gap, differ significantly after Holm's correction."""
    hits = 0
    for number in range(simulations):
        rng = np.random.default_rng([SEED, models, tasks, number])
        outcomes = runs(chances(models, tasks, rng), rng)
        differ = rng.random(tasks) < DISAGREEMENT
        first_right = rng.random(tasks) < (1 + gap / DISAGREEMENT) / 2
        outcomes[0] = np.where(differ, first_right, outcomes[1])
        outcomes[1] = np.where(differ, ~first_right, outcomes[1])
        tested = compare_pairs(matrix(outcomes))
        assert not isinstance(tested, Undefined)
        hits += tested[0].significant
    return hits / simulations


PARTS: dict[str, Callable[[float], Iterator[Row]]] = {
    "rounds": rounds,
    "deletion": deletion,
    "ranks": ranks,
    "power": power,
    "keys": keys,
}


def main(arguments: Sequence[str]) -> int:
    share = 0.1 if "--quick" in arguments else 1.0
    wanted = [name for name in arguments if not name.startswith("--")] or list(PARTS)
    parts = PARTS | {name: partial(planted, Path(name)) for name in wanted if name not in PARTS}
    print(f"seed {SEED}\n\n| promise | size | nominal | measured | simulations |\n|---|---|---|---|---|")
    kept = True
    for name in wanted:
        for row in parts[name](share):
            mark = "" if row.kept else " **broken**"
            print(
                f"| {row.what} | {row.size} | {row.nominal} | {row.measured:.3f}{mark} | {row.simulations:,} |",
                flush=True,
            )
            kept &= row.kept
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
