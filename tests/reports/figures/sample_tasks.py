"""The tasks of the sample: categories, bounds, agreement of models on them, findings, difficulty."""

import math
from itertools import combinations

from agenthard.audit.statistics import CategoryRetention, Result, ScoreBounds
from agenthard.reports.cleaning.figure_data import (
    AgreementMap,
    CategoryShare,
    ComponentShare,
    CurveMark,
    CurvePoint,
    ItemMap,
    ItemPoint,
    SeparabilityCurve,
)
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.splits import Retention, SplitName, Undecided
from tests.reports.figures.sample_numbers import SHARES, SPLITS, band, estimate


def retention_of(split: SplitName, sizes: dict[str, int]) -> Retention:
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


def undecided_of(board: Board) -> Undecided:
    bounds = [
        ScoreBounds(model=row.model, kept=value, dropped=value + 0.01, least=value - 0.02, most=value + 0.03)
        for row in board.rows
        if (value := getattr(row.score, "value", None)) is not None
    ]
    return Undecided(
        n=3, bounds=tuple(bounds), sentence="A score moves by at most 3.0 points; the first model stays first."
    )


def agreement_of(split: SplitName, models: list[str], n: int) -> AgreementMap:
    values: list[list[float | None]] = [[1.0] * len(models) for _ in models]
    for i, j in combinations(range(len(models)), 2):
        values[i][j] = values[j][i] = round(0.86 - 0.25 * abs(i - j) / len(models) - 0.02 * math.cos(i * j), 3)
    if len(models) > 3:
        values[3][1] = values[1][3] = None
    return AgreementMap(
        split=split, split_id=f"{SPLITS.index(split):012x}", n=n, models=tuple(models), values=tuple(map(tuple, values))
    )


def curve_of(sizes: dict[str, int]) -> SeparabilityCurve:
    first = sizes["initial"]
    points = [
        CurvePoint(n=n, band=band(70 * math.sqrt(n / first), 8 * (1.1 - n / first), n, first, None))
        for n in sorted({max(2, first * k // 10) for k in range(1, 10)})
    ]
    marks = [
        CurveMark(split=s, n=sizes[s], separability=estimate(70 * math.sqrt(sizes[s] / first) + i, n=sizes[s]))
        for i, s in enumerate(SPLITS)
    ]
    return SeparabilityCurve(points=tuple(points), marks=tuple(marks), method="Paired bootstrap over tasks.")


def components_of() -> tuple[ComponentShare, ...]:
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


def items_of(tasks: int, models: int) -> ItemMap:
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
