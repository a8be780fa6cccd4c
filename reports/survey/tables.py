"""The files of a survey next to its page: the JSON twin and Parquet tables with a data dictionary in their schema."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from agenthard.audit.statistics import Estimate, Result, Undefined
from agenthard.reports.kit.files import write_json_text
from agenthard.reports.kit.parquet import write_parquet
from agenthard.reports.survey.audits import Rate
from agenthard.reports.survey.points import Bounds
from agenthard.reports.survey.record import Survey, SurveyedBenchmark

Row = dict[str, Any]
_RATE = {
    "k": (pa.int64(), "Tasks that it is about."),
    "n": (pa.int64(), "Tasks that could be looked at."),
    "share": (pa.float64(), "k / n; null for n = 0."),
    "low": (pa.float64(), "Lower end of the interval of the share."),
    "high": (pa.float64(), "Upper end."),
}
_WHOSE = {
    "benchmark": (pa.string(), "Anchor of the benchmark on the page."),
    "title": (pa.string(), "Name of the benchmark."),
    "version": (pa.string(), "Release label."),
    "run": (pa.string(), "Name of the run folder."),
}
TABLES: dict[str, dict[str, tuple[pa.DataType, str]]] = {
    "benchmarks": {
        **_WHOSE,
        "what": (pa.string(), "flagged, dropped or review."),
        **_RATE,
        "there": (pa.int64(), "Tasks that are there, as far as their number is known."),
        "missing": (pa.string(), "What was not read or not checked."),
        "differences": (pa.string(), "In which ways it was audited differently; its counts are not comparable then."),
    },
    "categories": {
        **_WHOSE,
        "category": (pa.string(), "Id of the category of flaws."),
        "component": (pa.string(), "Part of the task that is wrong."),
        **_RATE,
        "confirmed": (pa.int64(), "Of them, tasks of a confirmed finding that is more than cosmetic."),
    },
    "evaluators": {
        **_WHOSE,
        "test": (pa.string(), "What was given to the evaluator."),
        **_RATE,
        "confirmed": (pa.int64(), "Of them, tasks of a confirmed finding."),
        "suspected": (pa.int64(), "Of the others, tasks of a suspected finding."),
        "legitimate": (pa.int64(), "The rest: the verdict can be right there."),
        "answers": (
            pa.int64(),
            "Answers that were made in the ways that the findings are about; null where not counted.",
        ),
        "answers_wrong": (pa.int64(), "Of them, answers that were scored wrongly."),
        "at_least": (pa.bool_(), "Whether more tasks may fail the test."),
        "not_tested": (pa.string(), "Why the test was not made on the other tasks."),
    },
    "models": {
        **_WHOSE,
        "model": (pa.string(), "Model."),
        "comparable": (pa.bool_(), "Whether it is ranked."),
        "reason": (pa.string(), "Why not."),
        "tasks": (pa.int64(), "Tasks that count."),
        "of": (pa.int64(), "Tasks of the benchmark."),
        "dropped": (pa.int64(), "Tasks among them that the policy drops."),
        "review": (pa.int64(), "Tasks among them that wait for a person."),
        "score": (pa.float64(), "Recorded score on these tasks."),
        **{
            f"{name}_{end}": (pa.float64(), f"{words} ({when}).")
            for name, words in {
                "won": "Points that rest on flawed tasks",
                "lost": "Points not got on flawed tasks",
                "share": "Share of the score that rests on flawed tasks",
                "without": "Score without flawed tasks",
            }.items()
            for end, when in (("least", "lower bound"), ("most", "upper bound"))
        },
        **{
            f"rank_{split}{end}": (pa.float64(), f"Rank on the {split} split{words}.")
            for split in ("original", "clean")
            for end, words in {"": "", "_low": ", lower end", "_high": ", upper end"}.items()
        },
    },
    "history": {
        "benchmark": (pa.string(), "Source of the benchmark."),
        "version": (pa.string(), "Release label."),
        "run": (pa.string(), "Name of the run folder."),
        **_RATE,
        **{
            name: (pa.int64(), words)
            for name, words in {
                "new": "Findings that the version before did not have; null for the first.",
                "persisted": "Findings that both have.",
                "flipped": "Findings that both have and that read differently.",
                "fixed": "Findings that are gone, looked for again.",
                "unchecked": "Findings that are gone because no check looked again.",
                "drift": "Verdicts of a judge that changed on unchanged tasks.",
            }.items()
        },
        "not_comparable": (pa.string(), "How its audit was made differently from the one before."),
    },
}
"""Columns of every table with their type and meaning, by name of the table."""


def write_tables(found: Survey, folder: Path) -> list[Path]:
    """Write ``survey.json`` and one Parquet file per table.

    Args:
        found: the survey.
        folder: where the files go; made when absent.

    Returns:
        The files written.
    """
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    write_json_text(folder / "survey.json", found.model_dump(mode="json"), indent=2)
    files = [folder / "survey.json"]
    for name, rows in tables_of(found).items():
        columns = TABLES[name]
        schema = pa.schema([pa.field(key, kind, metadata={"description": doc}) for key, (kind, doc) in columns.items()])
        files.append(tables / f"{name}.parquet")
        write_parquet(files[-1], schema, rows)
    return files


def tables_of(found: Survey) -> dict[str, list[Row]]:
    """Lay out a survey as tables, by name."""
    return {
        "benchmarks": list(_benchmarks(found.benchmarks)),
        "categories": [
            {**_whose(each), "category": row.category, "component": row.component, **_rate(row.flagged),
             "confirmed": row.confirmed}
            for each in found.benchmarks
            for row in each.categories
        ],
        "evaluators": list(_evaluators(found.benchmarks)),
        "models": list(_models(found.benchmarks)),
        "history": list(_history(found)),
    }  # fmt: skip


def _whose(each: SurveyedBenchmark) -> Row:
    return {"benchmark": each.anchor, "title": each.title, "version": each.audit.benchmark, "run": each.run}


def _rate(rate: Rate) -> Row:
    share = rate.share
    value, low, high = (share.value, share.low, share.high) if isinstance(share, Estimate) else (None, None, None)
    return {"k": rate.k, "n": rate.n, "share": value, "low": low, "high": high}


def _benchmarks(benchmarks: Iterable[SurveyedBenchmark]) -> Iterator[Row]:
    for each in benchmarks:
        rest = {
            "there": each.unseen.there,
            "missing": "; ".join(each.unseen.sentences),
            "differences": "; ".join(each.differences),
        }
        for what, rate in (("flagged", each.flagged), ("dropped", each.dropped), ("review", each.review)):
            yield {**_whose(each), "what": what, **_rate(rate), **rest}


def _evaluators(benchmarks: Iterable[SurveyedBenchmark]) -> Iterator[Row]:
    for each in benchmarks:
        for test in each.evaluator:
            counts = test.model_dump(
                include={"confirmed", "suspected", "legitimate", "answers", "answers_wrong", "at_least"}
            )
            reasons = "; ".join(f"{row.reason} ({row.tasks})" for row in test.not_tested)
            yield {**_whose(each), "test": test.id, **_rate(test.failed), **counts, "not_tested": reasons}


def _models(benchmarks: Iterable[SurveyedBenchmark]) -> Iterator[Row]:
    names = ("model", "comparable", "reason", "tasks", "of", "dropped", "review", "score")
    for each in benchmarks:
        for row in () if isinstance(each.points, Undefined) else each.points:
            bounds = {
                **_ends("won", row.won), **_ends("lost", row.lost), **_ends("share", row.share),
                **_ends("without", row.without),
            }  # fmt: skip
            ranks = {**_rank("original", row.rank_before), **_rank("clean", row.rank_after)}
            yield {**_whose(each), **{name: getattr(row, name) for name in names}, **bounds, **ranks}


def _ends(name: str, bounds: Bounds | Undefined) -> Row:
    least, most = (bounds.least, bounds.most) if isinstance(bounds, Bounds) else (None, None)
    return {f"{name}_least": least, f"{name}_most": most}


def _rank(split: str, rank: Result | None) -> Row:
    values = (rank.value, rank.low, rank.high) if isinstance(rank, Estimate) else (None, None, None)
    return dict(zip((f"rank_{split}", f"rank_{split}_low", f"rank_{split}_high"), values, strict=True))


def _history(found: Survey) -> Iterator[Row]:
    for history in found.histories:
        for each in history.versions:
            change = each.change
            names = ("new", "persisted", "flipped", "fixed", "unchecked", "drift")
            yield {
                "benchmark": history.source,
                "version": each.version,
                "run": each.run,
                **_rate(each.flagged),
                **{name: getattr(change, name) if change else None for name in names},
                "not_comparable": "; ".join(change.not_comparable) if change else "",
            }
