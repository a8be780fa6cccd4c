"""The models of the sample: leaderboards, runs, the hard split, the stage table, and how stable the ranking is."""

import math
from typing import Literal

from agenthard.audit.decisions.difficulty import DifficultyRule, HardTask
from agenthard.audit.statistics import Estimate, MonteCarloP, NullBand, Undefined, rank_moves
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.difficulty import HardSelection
from agenthard.reports.cleaning.information import InformationCurve, InformationCurves
from agenthard.reports.cleaning.leaderboard import Board, BoardRow
from agenthard.reports.cleaning.measures import Measure
from agenthard.reports.cleaning.runs import ExperimentSize, ModelCoverage, RunsUsed
from agenthard.reports.cleaning.splits import SplitName
from agenthard.reports.cleaning.stability import RankingStability, Reading
from agenthard.reports.cleaning.stages import Stage
from agenthard.reports.cleaning.unseen import UnseenFigure, UnseenModels, UnseenRow
from tests.reports.figures.sample_numbers import SPLITS, band, estimate


def _score(model: int, stage: int, count: int) -> float:
    return round(0.9 - 0.7 * model / max(count, 2) + 0.03 * math.sin(2.4 * model + 1.7 * stage) - 0.04 * stage, 4)


def board_of(split: SplitName, models: list[str], n: int, stage: int) -> Board:
    scores = {model: _score(i, stage, len(models)) for i, model in enumerate(models)}
    order = sorted(models, key=lambda model: -scores[model])
    rows = []
    for rank, model in enumerate(order, 1):
        near = tuple(other for other in order[max(rank - 3, 0) : rank + 2] if other != model)
        low, high = max(1, rank - 2), min(len(order), rank + 2)
        rows.append(
            BoardRow(
                model=model,
                rank=rank,
                passed=round(scores[model] * n),
                runs=n,
                tasks=n,
                of=n,
                score=estimate(scores[model], 0.08, n),
                rank_interval=Estimate(
                    value=rank, low=low, high=high, level=0.95, n=n, of=n, unit="tasks", method="by hand"
                ),
                tied_with=near,
                errors_as_failures=estimate(round(scores[model] - 0.01, 4), 0.08, n),
                rank_errors_as_failures=rank,
            )
        )
    return Board(
        split=split,
        split_id=f"{stage:012x}",
        n=n,
        complete=n,
        rows=tuple(rows),
        tied_sets=tuple(tuple(order[i : i + 3]) for i in range(0, len(order), 2)),
        paired_separability=estimate(55.0, n=n),
        top_unchanged=estimate(0.81, n=n),
        differences=(),
        method="Mean over tasks of the share of passed runs; percentile intervals of 2,000 paired bootstrap resamples.",
    )


def runs_of(models: list[str], tasks: int) -> RunsUsed:
    rows = [
        ModelCoverage(
            model=m, attempted=tasks, of=tasks, scored=tasks, runs=tasks, errors=0, comparable=True, reason=""
        )
        for m in models
    ]
    rows.append(
        ModelCoverage(
            model="vendor-9/late-model",
            attempted=5,
            of=tasks,
            scored=4,
            runs=5,
            errors=1,
            comparable=False,
            reason=f"attempted 5 of {tasks} tasks (retail 5/{tasks})",
        )
    )
    return RunsUsed(
        experiment="paper",
        sentence=f"The experiment paper, with {len(models)} models that attempted every task.",
        experiments=(
            ExperimentSize(name="paper", models=len(rows), complete_models=len(models), runs=tasks * len(rows)),
        ),
        models=tuple(rows),
        trials=1,
        clustered=False,
    )


def hard_of(models: list[str], sizes: dict[str, int]) -> HardSelection:
    n, cleaned = sizes["hard"], sizes["cleaned"]
    tasks = [
        HardTask(task_id=f"shop/{i}", verdict="hard" if i < n else "easy", solved=0.5, models=len(models))
        for i in range(cleaned)
    ]
    return HardSelection(
        rule=DifficultyRule(),
        selection_models=tuple(models),
        tasks=tuple(tasks),
        selected=tuple(task.task_id for task in tasks[:n]),
        hard=n,
        kept_for_category=0,
        easy=cleaned - n,
        all_fail=0,
        unknown=0,
        cross_fitted=dict.fromkeys(models, n),
        sentence="Each model is scored on the tasks that the other models select.",
    )


def unseen_of(models: list[str], sizes: dict[str, int]) -> UnseenModels:
    figures = tuple(
        UnseenFigure(id=name, title=title, unit=unit, everything=v, chosen=0.8 * v, random=0.7 * v, low=low, high=high)
        for name, title, unit, v, low, high in (
            ("score", "Mean score", "share", 0.6, 0.3, 0.47),
            ("significant", "Significant pairs", "%", 30.0, 15.0, 27.0),
            ("signal", "χ² per 100 tasks", "χ²", 5.0, 3.0, 4.5),
            ("agreement", "Chance-corrected agreement", "agreement", 0.4, 0.2, 0.35),
        )
    )
    row = UnseenRow(
        rule=DifficultyRule(),
        title="solved by at most 87.5 % of the models",
        published=True,
        least=sizes["hard"],
        most=sizes["hard"],
        mean=sizes["hard"],
        figures=figures,
        sentence="It costs pairs and gains nothing per task.",
    )
    return UnseenModels(
        models=len(models),
        tasks=sizes["cleaned"],
        folds=2,
        repetitions=6,
        rows=(row,),
        sentence="Models are parted at random into 2 folds, 6 times.",
    )


def information_of(models: list[str], sizes: dict[str, int]) -> InformationCurves:
    grid = tuple(i / 10 for i in range(-25, 26))
    return InformationCurves(
        abilities=grid,
        models={model: 1.5 - 3 * i / max(1, len(models) - 1) for i, model in enumerate(models)},
        low=0.0,
        high=1.5,
        curves=tuple(
            InformationCurve(
                split=split,
                n=sizes[split],
                measured=sizes[split],
                values=tuple(sizes[split] / 10 * math.exp(-((x - i / 2) ** 2) / 2) for x in grid),
                in_range=sizes[split] / 20,
            )
            for i, split in enumerate(SPLITS)
        ),
        method="by hand",
        sentence="The hard split keeps 60.0 % of the information with 60.0 % of the tasks.",
    )


MEASURES = (
    ("agreement", "model agreement", "share", 0.66, 0.01),
    ("agreement_corrected", "chance-corrected agreement", "share", 0.31, 0.03),
    ("separability", "separability", "%", 58.0, 6.0),
    ("diversity", "diversity", "distance", 0.81, 0.004),
    ("nearest_neighbour", "nearest neighbour", "distance", 0.42, 0.01),
)


def stages_of(sizes: dict[str, int]) -> tuple[Stage, ...]:
    first = sizes["initial"]
    done: list[tuple[Literal["initial", "rules", "execution", "judge", "difficulty"], str, int | None]] = [
        ("initial", "Initial", first),
        ("rules", "Rules", sizes["cleaned"] + 2),
        ("execution", "Execution", sizes["cleaned"]),
        ("judge", "Judge", None),
        ("difficulty", "Difficulty", sizes["hard"]),
    ]
    stages, before = [], first
    for name, title, n in done:
        if n is None:
            why = undefined("the judge was not asked")
            stages.append(
                Stage(
                    name=name,
                    title=title,
                    ran=False,
                    reason="the judge was not asked",
                    from_original=why,
                    from_previous=why,
                    macro_compression=why,
                )
            )
            continue
        nothing = undefined("this is the first stage")
        stages.append(
            Stage(
                name=name,
                title=title,
                ran=True,
                split_id=f"{n:012x}",
                n=n,
                removed=before - n,
                from_original=estimate(1 - n / first, n=first),
                from_previous=nothing if name == "initial" else estimate(1 - n / before, n=before),
                macro_compression=estimate(1 - n / first, n=2, unit="categories"),
                measures=tuple(_measure(*row, n=n, of=first) for row in MEASURES),
            )
        )
        before = n
    return tuple(stages)


def _measure(id: str, title: str, unit: str, mean: float, half: float, *, n: int, of: int) -> Measure:
    observed = mean + half * (0.4 if n % 2 else 1.6)
    if n == of:
        null: NullBand | Undefined = undefined("every task is kept, so nothing is left to chance", of, "tasks")
    else:
        null = band(mean, half, n, of, observed)
    inside = isinstance(null, NullBand) and abs(observed - mean) <= half
    return Measure(
        id=id,
        title=title,
        unit=unit,
        original=None if n == of else estimate(mean, n=of),
        observed=estimate(observed, n=n),
        null=null,
        verdict=None if not isinstance(null, NullBand) else "within" if inside else "beyond",
        sentence="Within what deleting as many random tasks does." if inside else "Outside the 5–95 % band.",
    )


def stability_of(before: Board, after: Board, reading: Reading) -> RankingStability:
    scores = [
        {r.model: r.score.value for r in board.rows if isinstance(r.score, Estimate)} for board in (before, after)
    ]
    moves = rank_moves(*scores)
    rate = sum(move.shift != 0 for move in moves) / len(moves)
    shift = sum(abs(move.shift) for move in moves) / len(moves)
    rows: tuple[tuple[str, str, str, float, float, float], ...] = (
        ("change_rate", "models that change rank", "share", rate, rate + 0.02, 0.25),
        ("rank_shift", "mean rank shift", "ranks", shift, shift + 0.1, 0.4),
        ("kendall_tau_b", "Kendall τ-b", "τ-b", 0.93, 0.95, 0.03),
    )
    measures = [
        Measure(
            id=id,
            title=title,
            unit=unit,
            observed=estimate(value, n=len(moves), unit="models"),
            null=band(mean, half, after.n, before.n, value),
            adjusted_p=MonteCarloP(p=0.6, low=0.5, high=0.7, tail="both", draws=1000),
            verdict="within",
            sentence=f"{title}: inside what deleting as many random tasks does.",
        )
        for id, title, unit, value, mean, half in rows
    ]
    nothing = undefined("two models share first place")
    measures.append(
        Measure(
            id="top_changed",
            title="another model comes first",
            unit="share",
            observed=nothing,
            null=nothing,
            sentence=nothing.reason,
        )
    )
    return RankingStability(
        reading=reading,
        before=before.split,
        after=after.split,
        n_before=before.n,
        n_after=after.n,
        moves=moves,
        measures=tuple(measures),
        sentence="No figure exceeds what deleting as many random tasks does.",
    )
