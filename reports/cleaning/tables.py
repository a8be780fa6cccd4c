"""Every table of the analysis as CSV: equal input gives equal bytes."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agenthard.audit.statistics import Estimate, Result, Undefined
from agenthard.reports.cleaning.analysis import CleaningAnalysis
from agenthard.reports.cleaning.boards import Board
from agenthard.reports.cleaning.nulls import Measure, NullBand
from agenthard.reports.cleaning.stability import RankingStability
from agenthard.reports.json_text import utf8
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record

Row = dict[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def tables_of(analysis: CleaningAnalysis) -> dict[str, list[Row]]:
    """Lay out the analysis as tables.

    Args:
        analysis: the analysis.

    Returns:
        Name of the table → rows with equal keys. A number that does not exist is an empty cell, its reason stands in
        the column that ends in ``_undefined``. A table without rows is left out.
    """
    tables: dict[str, list[Row]] = {
        "checks": [entry.model_dump() for entry in analysis.ledger],
        "splits": [
            _plain(split, "name", "title", "split_id", "n", "review") | flat("detectable", split.detectable)
            for split in analysis.splits
        ],
        "split_tasks": [{"split": split.name, "task_id": task} for split in analysis.splits for task in split.task_ids],
        "stages": [
            _plain(stage, "name", "ran", "reason", "split_id", "n", "removed")
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
            _plain(row, "component", "title", "confirmed", "suspected", "signals", "tasks") | flat("share", row.share)
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


def write_tables(tables: Mapping[str, list[Row]], folder: Path) -> list[Path]:
    """Write tables as CSV (UTF-8, header first).

    A text that a spreadsheet would run as a formula gets an apostrophe in front.

    Args:
        tables: name → rows with equal keys.
        folder: where the files go; made when absent.

    Returns:
        The files written, in order of name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, rows in sorted(tables.items()):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_cell(value) for value in row.values()] for row in rows)
        path = folder / f"{name}.csv"
        write_text(path, utf8(text.getvalue()))
        paths.append(path)
    return paths


def board_rows(board: Board) -> list[Row]:
    """Lay out a leaderboard."""
    return [
        {"split": board.split, "split_id": board.split_id, "n": board.n, "complete": board.complete}
        | _plain(row, "rank", "model", "passed", "runs", "tasks", "of")
        | flat("score", row.score)
        | flat("rank_interval", row.rank_interval)
        | {"tied_with": "; ".join(row.tied_with)}
        | flat("errors_as_failures", row.errors_as_failures)
        | {"rank_errors_as_failures": row.rank_errors_as_failures}
        for row in board.rows
    ]


def stability_rows(table: RankingStability) -> list[Row]:
    """Lay out the figures of a change of ranking beside their nulls."""
    way = {"reading": table.reading, "before": table.before, "after": table.after}
    return [
        way | {"n_before": table.n_before, "n_after": table.n_after} | measure_row(measure)
        for measure in table.measures
    ]


def measure_row(measure: Measure) -> Row:
    """Lay out one statistic beside its null."""
    null = measure.null if isinstance(measure.null, NullBand) else None
    names = ("mean", "low", "high", "n", "draws", "seed", "percentile", "exceeds")
    return (
        {"measure": measure.id, "unit": measure.unit}
        | flat("original", measure.original)
        | flat("observed", measure.observed)
        | {f"null_{name}": getattr(null, name) if null else None for name in names}
        | {"null_undefined": measure.null.reason if isinstance(measure.null, Undefined) else None}
    )


def flat(name: str, result: Result | None) -> Row:
    """Spread a result over columns: value, interval, level, n of N, seed, and the reason where it is undefined."""
    values: tuple[float | None, ...] = (None,) * 7
    if isinstance(result, Estimate):
        values = (result.value, result.low, result.high, result.level, result.n, result.of, result.seed)
    keys = (name, f"{name}_low", f"{name}_high", f"{name}_level", f"{name}_n", f"{name}_of", f"{name}_seed")
    reason = result.reason if isinstance(result, Undefined) else None
    return dict(zip(keys, values, strict=True)) | {f"{name}_undefined": reason}


def _optional(analysis: CleaningAnalysis) -> dict[str, list[Row]]:
    """Tables of parts that may be undefined."""
    tables: dict[str, list[Row]] = {}
    if not isinstance(analysis.runs, Undefined):
        tables["models"] = [model.model_dump() for model in analysis.runs.models]
        tables["experiments"] = [row.model_dump() for row in analysis.runs.experiments]
    if not isinstance(analysis.hard, Undefined):
        tables["hard_tasks"] = [task.model_dump() for task in analysis.hard.tasks]
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
            _plain(point, "task_id", "category", "flagged", "decision")
            | flat("difficulty", point.difficulty)
            | flat("discrimination", point.discrimination)
            for point in analysis.items.points
        ]
    return tables


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


def _plain(record: Record, *names: str) -> Row:
    return {name: getattr(record, name) for name in names}


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
