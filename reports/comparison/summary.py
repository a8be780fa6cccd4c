"""A comparison as titled tables, for terminals, and as Markdown: for a mail, a pull request or a Prefect artifact."""

from collections.abc import Iterable, Sequence

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.measures import MEASURE_COLUMNS, measure_cells
from agenthard.reports.comparison.audits import AuditComparison
from agenthard.reports.comparison.boards import BoardsComparison
from agenthard.reports.comparison.findings import FindingChange
from agenthard.reports.comparison.scores import SWAPPING, ScoreComparison
from agenthard.reports.kit.markdown import Section, sections_markdown
from agenthard.reports.kit.text import plural, result_text

MOST = 20
"""Rows of findings, decisions and tasks that are shown; models are never cut."""


def comparison_sections(found: AuditComparison | ScoreComparison) -> list[Section]:
    """Lay out a comparison.

    Args:
        found: of two audits, or of two tables of scores.

    Returns:
        The sections in reading order; one without rows is left out.
    """
    if isinstance(found, ScoreComparison):
        return list(_scores(found, "Scores"))
    changes = found.findings
    sections = [
        Section(f"{found.first} → {found.second}", found.sentence),
        _findings("New findings", changes.new),
        _findings("Flipped findings", changes.flipped),
        _findings("Fixed findings", changes.fixed),
        _findings("Findings not checked any more", changes.unchecked),
        _findings("Suppressed findings", changes.suppressed),
        _cut(
            "Decisions",
            ("task", "before", "after", "reason"),
            [(row.task_id, row.before, row.after, row.reasons[0]) for row in found.decisions],
        ),
    ]
    if not isinstance(found.boards, Undefined):
        sections += _scores(found.boards.scores, "Scores on all common tasks, regardless of decisions")
        sections.append(_cleaned(found.boards))
    return [section for section in sections if section.rows or section.text]


def _findings(title: str, rows: Sequence[FindingChange]) -> Section:
    cells = [
        (row.id, row.category, row.tier.value, "; ".join(row.changes) or row.claim, row.cause, _tasks(row.task_ids))
        for row in rows
    ]
    return _cut(title, ("id", "category", "tier", "what", "cause", "tasks"), cells)


def _tasks(tasks: Sequence[str]) -> str:
    if len(tasks) < 2:
        return tasks[0] if tasks else "none"
    return f"{tasks[0]} and {len(tasks) - 1:,} more"


def _cut(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Section:
    shown = f"the first {MOST} of {len(rows):,}" if len(rows) > MOST else f"{len(rows):,}"
    return Section(f"{title} ({shown})", "", columns, rows[:MOST])


def _scores(found: ScoreComparison, title: str) -> Iterable[Section]:
    left_out = ""
    if found.only_first or found.only_second:
        left_out = (
            f" Left out: {plural(len(found.only_first), 'task')} of the first side only and "
            f"{plural(len(found.only_second), 'task')} of the second."
        )
    moves = {} if isinstance(found.moves, Undefined) else {move.model: move for move in found.moves}
    rows = [
        (
            f"{moves[row.model].initial_rank} → {moves[row.model].later_rank}" if row.model in moves else "",
            row.model,
            result_text(row.first, "share"),
            result_text(row.second, "share"),
            result_text(row.difference, "points") if row.gained or row.lost else "the same on every task",
            f"+{row.gained} −{row.lost}",
        )
        for row in found.models
    ]
    columns = ("rank", "model", "first", "second", "second − first, paired", "tasks")
    yield Section(title, found.sentence + left_out, columns, rows)
    measures = [measure_cells(measure) for measure in found.measures]
    yield Section(f"Compared with {SWAPPING}", "", MEASURE_COLUMNS, measures)
    flips = [
        (
            flip.task_id,
            str(flip.gained),
            str(flip.lost),
            "" if flip.p is None else f"{flip.p:.2g}",
            _scored(flip.rescored),
        )
        for flip in found.flips
    ]
    if flips:
        yield _cut(
            "Tasks whose scores differ",
            ("task", "models that gain", "models that lose", "p, corrected", "sides"),
            flips,
        )


def _scored(differently: bool) -> str:
    return "score it differently" if differently else "may differ by chance"


def _cleaned(found: BoardsComparison) -> Section:
    first, second = (_by_model(board) for board in (found.first_cleaned, found.second_cleaned))
    rows = [
        (row.model, *first[row.model], *second[row.model], result_text(row.difference, "points"))
        for row in found.cleaned
    ]
    sizes = f"{found.first_cleaned.n:,} and {found.second_cleaned.n:,} of the common tasks"
    left_out = (
        f"Left out, because one side only can compare them: {', '.join(found.left_out)}." if found.left_out else ""
    )
    columns = ("model", "rank", "first", "rank", "second", "second − first, paired")
    return Section(f"Issue-cleaned splits: {sizes}", left_out, columns, rows)


def _by_model(board: Board) -> dict[str, tuple[str, str]]:
    return {row.model: (str(row.rank or "–"), result_text(row.score, "share")) for row in board.rows}


def comparison_markdown(found: AuditComparison | ScoreComparison) -> str:
    """Write a comparison of two audits, or of two tables of scores; texts of the benchmark are escaped."""
    return sections_markdown(comparison_sections(found))
