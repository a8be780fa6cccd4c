"""The page in which an evaluator sees what cleaning does to a leaderboard: one HTML file that opens offline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from agenthard.audit.statistics import Undefined
from agenthard.audit.statistics.subsets import forget_subsets
from agenthard.reports.cleaning.difficulty import keys_text
from agenthard.reports.cleaning.leaderboard import Board, BoardRow
from agenthard.reports.cleaning.measures import Measure, p_text
from agenthard.reports.cleaning.missing import MISSING_COLUMNS, missing_cells
from agenthard.reports.cleaning.record import CleaningAnalysis, Term
from agenthard.reports.cleaning.splits import TITLES
from agenthard.reports.cleaning.stages import Stage
from agenthard.reports.cleaning.ties import shared_ranks
from agenthard.reports.cleaning.trials import facets_text, reliability_text, trial_cells, trial_columns
from agenthard.reports.cleaning.unseen import describe_rule
from agenthard.reports.figures.cleaning import figures
from agenthard.reports.kit.page import anchor, write_figure_page
from agenthard.reports.kit.text import money, result_text
from agenthard.reports.result import AuditResult
from agenthard.reports.totals import ledger
from agenthard.taxonomy.categories import Taxonomy, builtin_taxonomy

AUDIT_PAGE = "../report.html"
"""The audit's own report: this page is in a folder next to it."""
STYLES = ("base.css", "top.css", "tables.css", "figures.css", "cleaning.css", "media.css")
SCRIPTS = ("dom.js", "sorting.js", "scrolling.js", "downloads.js", "figures.js", "boards.js")


def write_cleaning_page(analysis: CleaningAnalysis, path: Path, audit: AuditResult | None = None) -> None:
    """Write the page: a single file without remote assets, whose own script and style are named by hash.

    Args:
        analysis: what cleaning does.
        path: the file to write; its links expect the audit's ``report.html`` in the folder above.
        audit: the audit behind the analysis; adds the titles of the checks, and why a check did not run.
    """
    forget_subsets()  # drawing needs the memory
    glossary = Glossary(analysis.glossary)
    write_figure_page(
        path,
        "cleaning.html.j2",
        title=analysis.title,
        figures=figures(analysis),
        styles=STYLES,
        scripts=SCRIPTS,
        filters={"term": glossary.link, "define": glossary.sentence, "money": money},
        analysis=analysis,
        titles=TITLES,
        models=_side_by_side(analysis.leaderboards),
        measured=_measured(analysis),
        stage_cells=_stage_cells,
        missing_cells=missing_cells,
        trial_cells=trial_cells,
        trial_columns=trial_columns,
        reliability_text=reliability_text,
        facets=facets_text,
        keys_text=keys_text,
        missing_columns=MISSING_COLUMNS,
        outsiders=() if isinstance(analysis.runs, Undefined) else [m for m in analysis.runs.models if not m.comparable],
        tied_ranks=_tied_ranks,
        shared_ranks=shared_ranks,
        strip=_strip,
        describe_rule=describe_rule,
        p_text=p_text,
        checks={row.check.id: row for row in ledger(audit)} if audit else {},
        name_of=_category_names(audit.taxonomy if audit else builtin_taxonomy()),
        audit_page=AUDIT_PAGE,
    )


class Glossary:
    """Links words of the page to their meaning."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = {term.term.casefold(): term for term in terms}

    def link(self, name: str, shown: str | None = None) -> Markup:
        """Link a word to its entry, with the meaning as a tooltip; a word without an entry stays a word."""
        term = self._terms.get(name.casefold())
        if term is None:
            return Markup("{}").format(shown or name)
        entry = Markup('<a class="term" href="#term-{}" title="{}">{}</a>')
        return entry.format(anchor(term.term), term.sentence, shown or name)

    def sentence(self, name: str) -> str:
        """Return the meaning of a word, empty without an entry."""
        term = self._terms.get(name.casefold())
        return term.sentence if term else ""


@dataclass(frozen=True)
class ModelAcross:
    """One model on every split."""

    name: str
    """Model."""
    rows: tuple[BoardRow | None, ...]
    """Its row per leaderboard; None where it has none."""

    @property
    def gained(self) -> int | None:
        """Ranks gained from the first split to the last; None without both ranks."""
        first, last = self.rows[0], self.rows[-1]
        if first is None or last is None or first.rank is None or last.rank is None:
            return None
        return first.rank - last.rank


def _side_by_side(boards: Sequence[Board]) -> list[ModelAcross]:
    tables = [{row.model: row for row in board.rows} for board in boards]
    names = dict.fromkeys(row.model for board in boards for row in board.rows)
    return [ModelAcross(name, tuple(table.get(name) for table in tables)) for name in names]


def _measured(analysis: CleaningAnalysis) -> list[Measure]:
    """List the statistics of the stage table, each once, in order."""
    return list({measure.id: measure for stage in analysis.stages for measure in stage.measures}.values())


@dataclass
class StageCell:
    """One cell of the stage table; neighbours that are undefined for the same reason share one."""

    measure: Measure | None
    """The statistic; None when it is undefined."""
    reason: str = ""
    """Why there is none."""
    columns: int = 1
    """Columns it spans."""


def _stage_cells(stage: Stage, measured: Sequence[Measure]) -> list[StageCell]:
    found = {measure.id: measure for measure in stage.measures}
    cells: list[StageCell] = []
    for column in measured:
        measure = found.get(column.id)
        if measure is not None and not isinstance(measure.observed, Undefined):
            cells.append(StageCell(measure))
            continue
        reason = "not measured" if measure is None else result_text(measure.observed, measure.unit)
        if cells and cells[-1].reason == reason:
            cells[-1].columns += 1
        else:
            cells.append(StageCell(None, reason))
    return cells


def _tied_ranks(board: Board) -> dict[str, str]:
    """Give for each model the ranks of the models it is tied with."""
    rank = {row.model: row.rank for row in board.rows}
    words = {}
    for row in board.rows:
        ranks = sorted(r for name in row.tied_with or () if (r := rank.get(name)) is not None)
        words[row.model] = (
            f"ranks {ranks[0]}–{ranks[-1]}" if len(ranks) > 1 else f"rank {ranks[0]}" if ranks else "none"
        )
    return words


def _strip(measure: Measure) -> Markup:
    """Draw an observed value and the band of its null; an indicator has none."""
    null = measure.null
    if isinstance(null, Undefined) or null.low is None or null.high is None:
        return Markup("")
    values = [v for v in (null.low, null.mean, null.high, null.observed) if v is not None]
    start, width = min(values), (max(values) - min(values)) or 1.0

    def at(value: float) -> str:
        return f"{6 + 88 * (value - start) / width:.1f}"

    parts = [
        Markup('<rect class="null" x="{}" width="{}" y="2" height="8"/>').format(
            at(null.low), f"{max(88 * (null.high - null.low) / width, 1):.1f}"
        ),
        Markup('<line class="mean" x1="{0}" x2="{0}" y1="2" y2="10"/>').format(at(null.mean)),
    ]
    if null.observed is not None:
        x = float(at(null.observed))
        kind = "beyond" if measure.verdict == "beyond" else "inside"
        parts.append(
            Markup('<path class="{}" d="M{},1L{},6L{},11L{},6Z"/>').format(kind, x, f"{x + 3:.1f}", x, f"{x - 3:.1f}")
        )
    return Markup('<svg class="strip" viewBox="0 0 100 12" aria-hidden="true">{}</svg>').format(Markup("").join(parts))


def _category_names(taxonomy: Taxonomy) -> Callable[[str], str]:
    names: Mapping[str, str] = {category.id: category.name for category in taxonomy.categories}
    return lambda category: names.get(category, category)
