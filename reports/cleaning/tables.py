"""The files of the cleaning report next to its page: JSON twin, Markdown summary and a CSV of every table."""

from collections.abc import Iterable
from pathlib import Path

from agenthard.audit.statistics import MonteCarloP, NullBand, Undefined
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.measures import Measure
from agenthard.reports.cleaning.missing import SplitMissing
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.stability import RankingStability
from agenthard.reports.cleaning.summary import summary_markdown
from agenthard.reports.kit.files import Row, flat, pick, write_data

_VARIANCES = (
    *("coefficient", "standard_error", "standard_error_elsewhere"),
    *("model", "task", "model_by_task", "trial"),
)


def tables_of(analysis: CleaningAnalysis) -> dict[str, list[Row]]:
    """Lay out the analysis as tables.

    Args:
        analysis: the analysis.

    Returns:
        Name of the table → rows with equal keys. A number that does not exist is an empty cell, its reason is in
        the column that ends in ``_undefined``. A table without rows is left out.
    """
    tables: dict[str, list[Row]] = {
        "checks": [entry.model_dump() for entry in analysis.ledger],
        "splits": [
            pick(split, "name", "title", "split_id", "n", "review")
            | flat("detectable", split.detectable)
            | flat("detectable_any", split.detectable_any)
            for split in analysis.splits
        ],
        "split_tasks": [{"split": split.name, "task_id": task} for split in analysis.splits for task in split.task_ids],
        "stages": [
            pick(stage, "name", "ran", "reason", "split_id", "n", "removed")
            | flat("compression", stage.from_original)
            | flat("compression_from_previous", stage.from_previous)
            | flat("macro_compression", stage.macro_compression)
            for stage in analysis.stages
        ],
        "stage_measures": [
            {"stage": stage.name, "split_id": stage.split_id, "n": stage.n} | measure_row(measure)
            for stage in analysis.stages
            for measure in stage.measures
        ],
        "leaderboards": [row for board in analysis.leaderboards for row in board_rows(board)],
        "pair_differences": [
            {"split": board.split, "split_id": board.split_id}
            | pick(row, "first", "second")
            | flat("difference", row.difference)
            | pick(row, "p", "adjusted_p", "significant", "needed")
            for board in analysis.leaderboards
            if not isinstance(board.differences, Undefined)
            for row in board.differences
        ],
        "tied_sets": [row for board in analysis.leaderboards for row in _tied(board)],
        "ranking_stability": [row for table in analysis.stability for row in stability_rows(table)],
        "rank_moves": [row for table in analysis.stability for row in _moves(table)],
        "retention": [
            {"split": table.split, "split_id": table.split_id} | row.model_dump()
            for table in analysis.retention
            for row in table.rows
        ],
        "agreement": [
            {
                "split": table.split,
                "split_id": table.split_id,
                "n": table.n,
                "first": a,
                "second": b,
                "agreement": value,
            }
            for table in analysis.agreement
            for a, values in zip(table.models, table.values, strict=True)
            for b, value in zip(table.models, values, strict=True)
        ],
        "components": [
            pick(row, "component", "title", "confirmed", "suspected", "signals", "tasks") | flat("share", row.share)
            for row in analysis.components
        ],
        "categories": [
            {"component": row.component} | category.model_dump()
            for row in analysis.components
            for category in row.categories
        ],
        "glossary": [term.model_dump() for term in analysis.glossary],
    }
    return {name: rows for name, rows in (tables | _optional(analysis)).items() if rows}


def board_rows(board: Board) -> list[Row]:
    """Lay out a leaderboard."""
    return [
        {"split": board.split, "split_id": board.split_id, "n": board.n, "complete": board.complete}
        | pick(row, "rank", "model", "passed", "runs", "tasks", "of")
        | flat("score", row.score)
        | flat("rank_interval", row.rank_interval)
        | {"tied_with": None if row.tied_with is None else "; ".join(row.tied_with)}
        | flat("errors_as_failures", row.errors_as_failures)
        | {"rank_errors_as_failures": row.rank_errors_as_failures}
        for row in board.rows
    ]


def stability_rows(table: RankingStability) -> list[Row]:
    """Lay out the figures of a change of ranking with their nulls."""
    way = {"reading": table.reading, "before": table.before, "after": table.after}
    return [
        way | {"n_before": table.n_before, "n_after": table.n_after} | measure_row(measure)
        for measure in table.measures
    ]


def measure_row(measure: Measure) -> Row:
    """Lay out one statistic with its null."""
    null = measure.null if isinstance(measure.null, NullBand) else None
    names = ("mean", "low", "high", "n", "draws", "seed", "percentile", "tail")
    return (
        {"measure": measure.id, "unit": measure.unit}
        | flat("original", measure.original)
        | flat("observed", measure.observed)
        | {f"null_{name}": getattr(null, name) if null else None for name in names}
        | _p_values("p", null.p if null else None)
        | _p_values("p_holm", measure.adjusted_p)
        | {"verdict": measure.verdict}
        | {"null_undefined": measure.null.reason if isinstance(measure.null, Undefined) else None}
    )


def _p_values(name: str, p: MonteCarloP | None) -> Row:
    return {name: p and p.p, f"{name}_low": p and p.low, f"{name}_high": p and p.high}


def _optional(analysis: CleaningAnalysis) -> dict[str, list[Row]]:
    """Tables of parts that may be undefined."""
    tables: dict[str, list[Row]] = {}
    if not isinstance(analysis.runs, Undefined):
        tables["models"] = [model.model_dump() for model in analysis.runs.models]
        tables["experiments"] = [row.model_dump() for row in analysis.runs.experiments]
    tables["missing"] = missing_rows(analysis.missing)
    tables["trials"] = [
        {"split": board.split, "split_id": board.split_id, "model": row.model, "k": k}
        | flat("all_of_k", every)
        | flat("any_of_k", one)
        for board in analysis.leaderboards
        if board.trials is not None
        for row in board.trials.rows
        for k, every, one in zip(board.trials.ks, row.all_of, row.any_of, strict=True)
    ]
    tables["reliability"] = [
        {"split": board.split, "split_id": board.split_id}
        | {key: value for name in _VARIANCES for key, value in flat(name, getattr(board.reliability, name)).items()}
        for board in analysis.leaderboards
        if not isinstance(board.reliability, Undefined)
    ]
    if not isinstance(analysis.hard, Undefined):
        tables["hard_tasks"] = [task.model_dump() for task in analysis.hard.tasks]
    if not isinstance(analysis.unseen, Undefined):
        tables["hard_unseen"] = [
            {"by": row.rule.by, "rule": row.title, "published": row.published, "tasks": row.mean}
            | figure.model_dump(exclude={"title"})
            for row in analysis.unseen.rows
            for figure in row.figures
        ]
    if not isinstance(analysis.information, Undefined):
        tables["information"] = [
            {"split": curve.split, "ability": ability, "information": value}
            for curve in analysis.information.curves
            for ability, value in zip(analysis.information.abilities, curve.values, strict=True)
        ]
    if not isinstance(analysis.undecided, Undefined) and not isinstance(analysis.undecided.bounds, Undefined):
        tables["score_bounds"] = [row.model_dump() for row in analysis.undecided.bounds]
    if not isinstance(analysis.separability_curve, Undefined):
        curve = analysis.separability_curve
        tables["separability_curve"] = [point.band.model_dump() for point in curve.points]
        tables["separability_of_splits"] = [
            {"split": mark.split, "n": mark.n} | flat("separability", mark.separability) for mark in curve.marks
        ]
    if not isinstance(analysis.items, Undefined):
        tables["items"] = [
            pick(point, "task_id", "category", "flagged", "decision")
            | flat("difficulty", point.difficulty)
            | flat("discrimination", point.discrimination)
            | pick(point, "inverted")
            for point in analysis.items.points
        ]
    return tables


def missing_rows(splits: Iterable[SplitMissing]) -> list[Row]:
    """Lay out the scores of models whose runs are partly missing."""
    return [
        {"split": each.split, "split_id": each.split_id}
        | pick(row, "model", "scored", "of")
        | flat("available", row.available)
        | flat("complete", row.complete)
        | flat("modelled", row.modelled)
        | pick(row, "least", "most")
        | flat("easier", row.easier)
        for each in splits
        if not isinstance(each.found, Undefined)
        for row in each.found.models
    ]


def _tied(board: Board) -> Iterable[Row]:
    if isinstance(board.tied_sets, Undefined):
        return []
    names = {"split": board.split, "split_id": board.split_id}
    sets = enumerate(board.tied_sets, 1)
    return [names | {"set": number, "model": model} for number, models in sets for model in models]


def _moves(table: RankingStability) -> Iterable[Row]:
    if isinstance(table.moves, Undefined):
        return []
    way = {"reading": table.reading, "before": table.before, "after": table.after}
    return [way | move.model_dump() | {"shift": move.shift} for move in table.moves]


def write_analysis(analysis: CleaningAnalysis, folder: Path) -> list[Path]:
    """Write ``analysis.json``, ``summary.md`` and ``tables/*.csv``. Equal analyses give equal bytes.

    Args:
        analysis: the analysis.
        folder: where the files go; made when absent.

    Returns:
        The files written.
    """
    return write_data(analysis, summary_markdown(analysis), tables_of(analysis), folder / "analysis.json")
