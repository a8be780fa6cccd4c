"""The analysis in thirty seconds, as Markdown: for a chat, a mail, a pull request or a Prefect artifact."""

from agenthard.audit.statistics import NullBand, Result, Undefined
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.measures import MEASURE_COLUMNS, Measure, band_text, measure_cells
from agenthard.reports.cleaning.missing import MISSING_COLUMNS, missing_cells
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.splits import TITLES
from agenthard.reports.cleaning.ties import shared_ranks
from agenthard.reports.cleaning.trials import facets_text, reliability_text, trial_cells, trial_columns
from agenthard.reports.kit.markdown import md, table
from agenthard.reports.kit.text import amount, money, plural, result_text

MOST_MODELS = 16
"""Models per leaderboard; the others are counted."""


def summary_markdown(analysis: CleaningAnalysis) -> str:
    """Write the summary.

    Args:
        analysis: the analysis.

    Returns:
        Markdown; texts of the benchmark are escaped.
    """
    head = analysis.headline
    new = "no earlier audit" if head.new is None else f"{head.new:,}"
    parts = [
        f"# {md(analysis.title)}: what cleaning does to the leaderboard",
        md(head.sentence),
        table(
            ["checked", "flagged", "new since last", "undecided", "cost"],
            [
                [
                    f"{head.checked:,} of {head.tasks:,}",
                    f"{head.flagged:,}",
                    new,
                    f"{head.undecided:,}",
                    money(head.cost),
                ]
            ],
        ),
        _top(analysis),
        "## Splits\n\n" + "\n".join(f"* {md(split.sentence)}" for split in analysis.splits),
        *_models(analysis),
        "## Stages\n\n" + _stages(analysis),
        _provenance(analysis),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _top(analysis: CleaningAnalysis) -> str:
    if not analysis.headline.top:
        return ""
    rows = [
        f"{i}. **{md(f.category)}** ({f.tier}, {plural(f.tasks, 'task')}: {md(f.task_id)}). "
        f"{md(f.claim)} [details](../report.html#finding={f.id})"
        for i, f in enumerate(analysis.headline.top, 1)
    ]
    return "## Look at these first\n\n" + "\n".join(rows)


def _models(analysis: CleaningAnalysis) -> list[str]:
    runs = analysis.runs
    parts = [f"## Models\n\n{md(runs.reason if isinstance(runs, Undefined) else runs.sentence)}"]
    if not isinstance(runs, Undefined):
        others = [row for row in runs.models if not row.comparable]
        if others:
            parts.append("Not comparable: " + "; ".join(f"{md(row.model)} ({md(row.reason)})" for row in others) + ".")
    if not isinstance(runs, Undefined) and (facets := facets_text(runs)):
        parts.append(md(facets))
    parts += [_board(board) for board in analysis.leaderboards]
    for each in analysis.missing[:1]:
        gaps = [] if isinstance(each.found, Undefined) else missing_cells(each.found)
        text = table(MISSING_COLUMNS, [[md(cell) for cell in row] for row in gaps[:MOST_MODELS]])
        parts.append(f"### Missing runs\n\n{md(each.sentence)}" + (f"\n\n{text}" if gaps else ""))
    if not isinstance(analysis.hard, Undefined):
        parts.append(md(analysis.hard.sentence))
        parts += _unseen(analysis)
    elif analysis.leaderboards:
        parts.append(md(f"No hard split: {analysis.hard.reason}."))
    for stability in analysis.stability:
        if stability.reading == "errors_as_failures":
            parts.append(f"With infrastructure errors as failures: {md(stability.sentence)}")
            continue
        rows = [[md(cell) for cell in measure_cells(measure)] for measure in stability.measures]
        parts.append(f"{md(stability.sentence)}\n\n{table(MEASURE_COLUMNS, rows)}")
    if not isinstance(analysis.undecided, Undefined):
        parts.append(md(analysis.undecided.sentence))
    return parts


def _board(board: Board) -> str:
    rows = [[md(cell) for cell in cells] for cells in board_cells(board)[:MOST_MODELS]]
    more = len(board.rows) - MOST_MODELS
    rest = f"\n\n… and {more:,} more models." if more > 0 else ""
    title = f"### {TITLES[board.split].capitalize()} split ({board.split_id}, {board.n:,} tasks)"
    note = f"Leads in bootstrap resamples: {md(result_text(board.top_unchanged, 'share'))}. {md(board.method)}."
    note += f" {md(reliability_text(board.reliability))}"
    text = f"{title}\n\n{table(BOARD_COLUMNS, rows)}{rest}\n\n{note}"
    if board.trials is None:
        return text
    cells = [[md(cell) for cell in row] for row in trial_cells(board.trials)[:MOST_MODELS]]
    return f"{text}\n\n{table([md(name) for name in trial_columns(board.trials)], cells)}"


def _unseen(analysis: CleaningAnalysis) -> list[str]:
    """What hard splits cost and gain on models that did not select them."""
    found, curves = analysis.unseen, analysis.information
    if isinstance(found, Undefined):
        return [md(f"What the hard split does for models that did not select it is {found.reason}.")]
    rows = "\n".join(f"* {md(row.sentence)}" for row in found.rows)
    parts = [f"### The hard split for models that did not select it\n\n{md(found.sentence)}\n\n{rows}"]
    return parts if isinstance(curves, Undefined) else [*parts, md(curves.sentence)]


def _stages(analysis: CleaningAnalysis) -> str:
    rows = []
    for stage in analysis.stages:
        if not stage.ran or stage.n is None:
            rows.append([md(stage.title), md(stage.reason), "", "", "", "", ""])
            continue
        values = {measure.id: measure for measure in stage.measures}
        cells = [_with_null(values[name]) for name in ("agreement", "agreement_corrected", "separability", "diversity")]
        rows.append([md(stage.title), f"{stage.n:,}", md(result_text(stage.from_original, "share")), *cells])
    columns = ["stage", "tasks", "compression", "agreement", "chance-corrected", "separability", "diversity"]
    notes = [md(stage.note) for stage in analysis.stages if stage.note]
    text = f"{table(columns, rows)}\n\nIn brackets: 5–95 % of random subsets of equal size."
    return " ".join([text, *notes])


def _with_null(measure: Measure) -> str:
    if isinstance(measure.observed, Undefined):
        return "undefined"
    value = amount(measure.observed.value, measure.unit)
    if not isinstance(measure.null, NullBand):
        return value
    return f"{value} [{band_text(measure.null, measure.unit)}]"


def _provenance(analysis: CleaningAnalysis) -> str:
    made = analysis.provenance
    return (
        f"AgentHard {md(made.agenthard)}, {md(made.source)} {md(made.benchmark)} (content `{made.content_hash}`), "
        f"audit `{made.audit_key}`, policy {md(made.policy)}, taxonomy {md(made.taxonomy)}; seed {made.seed}, "
        f"{made.draws:,} random deletions, {made.resamples:,} resamples, level {made.level:g}."
    )


BOARD_COLUMNS = ("rank", "model", "passed", "score", "ranks supported", "tied with", "errors as failures")


def board_cells(board: Board) -> list[tuple[str, ...]]:
    """Write the rows of a leaderboard, in the order of ``BOARD_COLUMNS``."""
    shared = shared_ranks(board)
    return [
        (
            shared.get(row.model, "–"),
            row.model,
            f"{row.passed:,}/{row.runs:,}",
            result_text(row.score, "share"),
            _range_of(row.rank_interval),
            "not tested" if row.tied_with is None else str(len(row.tied_with)),
            result_text(row.errors_as_failures, "share"),
        )
        for row in board.rows
    ]


def _range_of(ranks: Result) -> str:
    if isinstance(ranks, Undefined) or ranks.low is None or ranks.high is None:
        return "undefined"
    return f"{ranks.low:g}" if ranks.low == ranks.high else f"{ranks.low:g}–{ranks.high:g}"
