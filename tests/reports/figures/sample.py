"""A cleaning analysis written by hand: any number of models and tasks, its numbers made by simple formulas."""

import math
from itertools import combinations
from typing import Any, Literal

from audit.decisions.difficulty import DifficultyRule, HardTask
from reports.cleaning.analysis import (
    CleaningAnalysis,
    Headline,
    LedgerEntry,
    Provenance,
    Retention,
    TopFinding,
    Undecided,
)
from reports.cleaning.boards import Board, BoardRow
from reports.cleaning.experiments import ExperimentSize, ModelCoverage, RunsUsed
from reports.cleaning.figures import (
    AgreementMap,
    CategoryShare,
    ComponentShare,
    CurveMark,
    CurvePoint,
    ItemMap,
    ItemPoint,
    SeparabilityCurve,
)
from reports.cleaning.glossary import GLOSSARY
from reports.cleaning.hard import HardSelection
from reports.cleaning.nulls import Measure, NullBand
from reports.cleaning.splits import TITLES, Split, SplitName
from reports.cleaning.stability import RankingStability, Reading
from reports.cleaning.stages import Stage
from reports.statistics import CategoryRetention, Estimate, Result, ScoreBounds, Undefined, rank_moves
from reports.statistics.result import undefined

SPLITS: tuple[SplitName, ...] = ("initial", "cleaned", "hard")
SHARES = {"initial": 1.0, "cleaned": 0.75, "hard": 0.6}
SEED = 7


def estimate(value: float, half: float | None = None, n: int = 40, unit: str = "tasks", **extra: Any) -> Estimate:
    """A number with a symmetric interval."""
    ends = {} if half is None else {"low": value - half, "high": value + half, "level": 0.95}
    return Estimate(value=value, n=n, of=n, unit=unit, method="by hand", **ends, **extra)


def band(mean: float, half: float, n: int, of: int, observed: float | None) -> NullBand:
    """A null of 1,000 draws."""
    low, high = mean - half, mean + half
    return NullBand(
        mean=mean,
        low=low,
        high=high,
        n=n,
        of=of,
        draws=1000,
        of_draws=1000,
        seed=SEED,
        method="by hand",
        observed=observed,
        percentile=None if observed is None else min(99.0, max(1.0, 50 + 45 * (observed - mean) / half)),
        exceeds=None if observed is None else not low <= observed <= high,
    )


def sample(models: int = 6, tasks: int = 40, names: dict[int, str] | None = None) -> CleaningAnalysis:
    """Build an analysis.

    Args:
        models: number of comparable models; one more has run too little.
        tasks: number of tasks of the initial split.
        names: names of some models, by position.
    """
    known = [(names or {}).get(i, f"vendor-{i % 5}/model-{i:02d}") for i in range(models)]
    sizes = {split: math.ceil(tasks * share) for split, share in SHARES.items()}
    boards = tuple(_board(split, known, sizes[split], i) for i, split in enumerate(SPLITS))
    return CleaningAnalysis(
        title="Corner Shop",
        headline=Headline(
            sentence=f"{tasks} of {tasks} tasks were checked and {tasks // 4} flagged; cleaning changed the rank of "
            "some models, no more than deleting as many random tasks does.",
            checked=tasks,
            tasks=tasks,
            flagged=tasks // 4,
            new=None,
            undecided=3,
            cost=0.0,
            top=(_top(0), _top(1), _top(2)),
        ),
        ledger=(
            LedgerEntry(check="gold-against-policy", version="1", flagged=2, clean=tasks - 2, not_checked=0, errors=0),
            LedgerEntry(check="all-models-fail", version="1", flagged=0, clean=0, not_checked=tasks - 1, errors=1),
        ),
        runs=_runs(known, tasks),
        splits=tuple(_split(split, sizes) for split in SPLITS),
        hard=_hard(known, sizes),
        stages=_stages(sizes),
        leaderboards=boards,
        stability=tuple(
            _stability(boards[i], boards[j], reading)
            for reading in ("errors_missing", "errors_as_failures")
            for i, j in ((0, 1), (1, 2), (0, 2))
        ),
        retention=tuple(_retention(split, sizes) for split in SPLITS[1:]),
        undecided=_undecided(boards[1]),
        agreement=tuple(_agreement(split, known, sizes[split]) for split in SPLITS),
        separability_curve=_curve(sizes),
        components=_components(),
        items=_items(tasks, models),
        provenance=Provenance(
            agenthard="0.1.0",
            taxonomy="1.2.0",
            source="shop",
            benchmark="v2",
            content_hash="00ff00ff00ff00ff",
            audit_key="ab12cd34ef56",
            policy="1",
            checks={"gold-against-policy": "1", "all-models-fail": "1"},
            seed=SEED,
            draws=1000,
            resamples=2000,
            level=0.95,
            difficulty=DifficultyRule(),
            embedder="TF-IDF",
        ),
        glossary=GLOSSARY,
    )


def without_runs(tasks: int = 40) -> CleaningAnalysis:
    """The same benchmark when no runs were given: everything about models is undefined or empty."""
    why = undefined("no runs of models were given")
    full = sample(2, tasks)
    stages = tuple(
        stage.model_copy(update={"measures": tuple(_unmeasured(m, why) for m in stage.measures)})
        for stage in full.stages
        if stage.name != "difficulty"
    )
    return full.model_copy(
        update={
            "runs": why,
            "splits": tuple(split.model_copy(update={"detectable": why}) for split in full.splits[:2]),
            "hard": why,
            "stages": stages,
            "leaderboards": (),
            "stability": (),
            "retention": full.retention[:1],
            "undecided": why,
            "agreement": (),
            "separability_curve": why,
            "items": why,
        }
    )


def _unmeasured(measure: Measure, why: Undefined) -> Measure:
    return measure.model_copy(update={"observed": why, "null": why, "original": None, "sentence": why.reason})


def _top(index: int) -> TopFinding:
    return TopFinding(
        id=f"{index:012x}",
        category=("incorrect-tool-call", "too-lenient", "misleading-tool-design")[index],
        tier="confirmed",
        severity="affects_score",
        claim=f"The gold call cancels order W1{index}, which was sent.",
        task_id=f"shop/{index}",
        tasks=index + 1,
    )


def _score(model: int, stage: int, count: int) -> float:
    return round(0.9 - 0.7 * model / max(count, 2) + 0.03 * math.sin(2.4 * model + 1.7 * stage) - 0.04 * stage, 4)


def _board(split: SplitName, models: list[str], n: int, stage: int) -> Board:
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
        method="Mean over tasks of the share of passed runs; percentile intervals of 2,000 paired bootstrap resamples.",
    )


def _runs(models: list[str], tasks: int) -> RunsUsed:
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


def _split(split: SplitName, sizes: dict[str, int]) -> Split:
    n = sizes[split]
    return Split(
        name=split,
        title=TITLES[split],
        split_id=f"{SPLITS.index(split):012x}",
        n=n,
        review=3 if split != "initial" else 0,
        detectable=estimate(2.8 * math.sqrt(0.34 / n), n=n),
        sentence=f"{n} tasks. Do not compare scores on it with scores on another split.",
        task_ids=tuple(f"shop/{i}" for i in range(n)),
    )


def _hard(models: list[str], sizes: dict[str, int]) -> HardSelection:
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


MEASURES = (
    ("agreement", "model agreement", "share", 0.66, 0.01),
    ("agreement_corrected", "chance-corrected agreement", "share", 0.31, 0.03),
    ("separability", "separability", "%", 58.0, 6.0),
    ("diversity", "diversity", "distance", 0.81, 0.004),
    ("nearest_neighbour", "nearest neighbour", "distance", 0.42, 0.01),
)


def _stages(sizes: dict[str, int]) -> tuple[Stage, ...]:
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
    inside = isinstance(null, NullBand) and not null.exceeds
    return Measure(
        id=id,
        title=title,
        unit=unit,
        original=None if n == of else estimate(mean, n=of),
        observed=estimate(observed, n=n),
        null=null,
        sentence="Within what deleting as many random tasks does." if inside else "Outside the 5–95 % band.",
    )


def _stability(before: Board, after: Board, reading: Reading) -> RankingStability:
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


def _retention(split: SplitName, sizes: dict[str, int]) -> Retention:
    rows, groups = [], ("airline", "retail", "telecom")
    for i, category in enumerate(groups):
        n = sizes["initial"] // len(groups)
        kept = math.floor(n * SHARES[split] * (1 - 0.4 * i)) if split == "cleaned" else math.floor(n * 0.3 * (2 - i))
        share = kept / n
        rows.append(CategoryRetention(category=category, n=n, kept=kept, share=share, below_safeguard=share < 0.1))
    return Retention(
        split=split,
        split_id=f"{SPLITS.index(split):012x}",
        safeguard=0.1,
        coverage=estimate(1.0, n=3, unit="categories"),
        rows=tuple(rows),
        sentence="telecom falls below the safeguard." if split == "hard" else "No category falls below the safeguard.",
    )


def _undecided(board: Board) -> Undecided:
    bounds = [
        ScoreBounds(model=row.model, kept=value, dropped=value + 0.01, least=value - 0.02, most=value + 0.03)
        for row in board.rows
        if (value := getattr(row.score, "value", None)) is not None
    ]
    return Undecided(
        n=3, bounds=tuple(bounds), sentence="A score moves by at most 3.0 points; the first model stays first."
    )


def _agreement(split: SplitName, models: list[str], n: int) -> AgreementMap:
    values: list[list[float | None]] = [[1.0] * len(models) for _ in models]
    for i, j in combinations(range(len(models)), 2):
        values[i][j] = values[j][i] = round(0.86 - 0.25 * abs(i - j) / len(models) - 0.02 * math.cos(i * j), 3)
    if len(models) > 3:
        values[3][1] = values[1][3] = None
    return AgreementMap(
        split=split, split_id=f"{SPLITS.index(split):012x}", n=n, models=tuple(models), values=tuple(map(tuple, values))
    )


def _curve(sizes: dict[str, int]) -> SeparabilityCurve:
    first = sizes["initial"]
    points = [
        CurvePoint(n=n, band=band(70 * math.sqrt(n / first), 8 * (1.1 - n / first), n, first, None))
        for n in sorted({max(2, first * k // 10) for k in range(1, 10)})
    ]
    marks = [
        CurveMark(split=s, n=sizes[s], separability=estimate(70 * math.sqrt(sizes[s] / first) + i, n=sizes[s]))
        for i, s in enumerate(SPLITS)
    ]
    return SeparabilityCurve(
        points=tuple(points), marks=tuple(marks), resamples=500, method="Paired bootstrap over tasks."
    )


def _components() -> tuple[ComponentShare, ...]:
    def part(component: str, title: str, confirmed: int, suspected: int, *categories: str) -> ComponentShare:
        found: Result = estimate((confirmed + suspected) / 20, n=20, unit="findings")
        shares = tuple(CategoryShare(category=c, findings=5 - i, tasks=4 - i) for i, c in enumerate(categories))
        return ComponentShare(
            component=component,
            title=title,
            confirmed=confirmed,
            suspected=suspected,
            signals=1,
            tasks=confirmed + suspected,
            share=found,
            categories=shares,
        )

    return (
        part("user", "User", 0, 0),
        part("environment", "Environment", 3, 2, "misleading-tool-design", "insufficient-toolset"),
        part("evaluation", "Evaluation", 1, 4, "too-lenient"),
        part("ground_truth", "Ground truth", 9, 1, "incorrect-tool-call", "malformed-tool-call"),
    )


def _items(tasks: int, models: int) -> ItemMap:
    points = [
        ItemPoint(
            task_id=f"shop/{i}",
            category=("airline", "retail", "telecom")[i % 3],
            difficulty=estimate(3 * math.sin(i * 1.3), standard_error=0.4, n=models, unit="models"),
            discrimination=estimate(
                0.9 + 0.8 * math.cos(i * 0.7) - (1.6 if i % 11 == 0 else 0), standard_error=0.3, n=models
            ),
            flagged=i % 4 == 0,
            decision="drop" if i % 8 == 0 else "review" if i % 12 == 4 else "keep",
        )
        for i in range(tasks - 2)
    ]
    return ItemMap(method="2PL, fitted by hand.", points=tuple(points), left_out=2, models=models)
