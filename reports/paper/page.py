"""Files of the paper's tables: CSV, Markdown, SVG and one page with what is met and what is not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agenthard.audit.statistics import Undefined
from agenthard.reports.alignment.score import Alignment
from agenthard.reports.cleaning.compression import compressions, stage_sizes
from agenthard.reports.cleaning.inputs import AnalysisError, AnalysisSettings
from agenthard.reports.kit.figure import Figure
from agenthard.reports.kit.files import csv_text, write_json_text
from agenthard.reports.kit.markdown import md, table
from agenthard.reports.kit.page import anchor, write_figure_page
from agenthard.reports.paper import label_tables, tables
from agenthard.reports.paper.comparison import compare_published, comparison_table
from agenthard.reports.paper.figures import NUMBERS, disagreement_bars, failure_mode_bars, paper_figures, svg_file
from agenthard.reports.paper.material import RunMaterial, read_material
from agenthard.reports.paper.record import Comparison, Met, Paper, PaperRun, PaperTable
from agenthard.reports.paper.stage_rows import stage_tables
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.printable import printable

STYLES = ("base.css", "top.css", "tables.css", "figures.css", "survey.css", "media.css")
SCRIPTS = ("dom.js", "sorting.js", "scrolling.js", "downloads.js", "figures.js")
WHY = "_why"
"""End of the name of a column that has the reason why a number does not exist."""
MOST_ROWS = 60
"""Rows of a table that the page and the Markdown show; the CSV file has all."""
ORDER: tuple[Met, ...] = ("met", "differs", "not made", "unknown")


@dataclass(frozen=True)
class PaperFiles:
    """What was written, and what it holds."""

    paper: Paper
    """Tables and comparisons."""
    files: tuple[Path, ...]
    """Files, the page first."""


def write_paper(
    folders: Sequence[Path],
    out: Path,
    settings: AnalysisSettings,
    *,
    experiment: str | None = None,
    alignment: Alignment | None = None,
) -> PaperFiles:
    """Make every table and figure of the audit paper from finished audits.

    Args:
        folders: run folders, as audited or after a judge.
        out: folder for the files; made when absent.
        settings: parameters of the analyses.
        experiment: which runs of models; None = those of the experiment with most comparable models, for each audit.
        alignment: agreement with the labels of people, for Tables 4 and 8.

    Returns:
        The tables and the files.

    Raises:
        AnalysisError: when no run folder is given, or the experiment does not exist.
        RunTablesError: when a folder holds no finished audit.
    """
    if not folders:
        raise AnalysisError("no run folder was given; name the folders of finished audits")
    runs = read_material(folders, settings, experiment)
    paper = make_paper(runs, alignment)
    figures = {run.name: paper_figures(run) for run in runs}
    if alignment is not None:
        figures["labels"] = {each.id: each for each in (disagreement_bars(alignment), failure_mode_bars(alignment))}
    out.mkdir(parents=True, exist_ok=True)
    files = [out / "index.html", out / "paper.md", out / "paper.json"]
    _write_page(paper, figures, files[0])
    write_text(files[1], printable(paper_markdown(paper)))
    write_json_text(files[2], paper.model_dump(mode="json"), indent=1)
    for each in paper.tables:
        if each.rows:
            files.append(_file(out / "tables" / f"{each.name}.csv", csv_text(list(each.rows[0]), each.rows)))
            files.append(_file(out / "tables" / f"{each.name}.md", printable(table_markdown(each, len(each.rows)))))
    for run, drawn in figures.items():
        for figure in drawn.values():
            svg = svg_file(figure)
            if svg is not None:
                files.append(_file(out / "figures" / f"{anchor(run)}-{figure.id}.svg", svg))
    return PaperFiles(paper, tuple(files))


def make_paper(runs: Sequence[RunMaterial], alignment: Alignment | None = None) -> Paper:
    """Lay out all tables. Writes nothing.

    Args:
        runs: the audits.
        alignment: agreement with the labels of people.
    """
    # An audit and the same audit after a judge are one benchmark: the last one counts.
    last = {(run.found.audit.content_hash, tuple(run.found.categories)): run for run in runs}
    compressed = compressions({run.name: stage_sizes(run.analysis) for run in last.values()})
    comparisons = compare_published(runs, compressed, alignment)
    return Paper(
        runs=tuple(_run(run) for run in runs),
        tables=(
            tables.design(runs),
            tables.components(runs),
            tables.categories(runs),
            tables.quality(runs, alignment is not None),
            label_tables.alignment_table(alignment),
            label_tables.disagreements(alignment),
            tables.leaderboards(runs),
            label_tables.judges(alignment),
            label_tables.failure_modes(alignment),
            tables.rank_changes(runs),
            *stage_tables(runs),
            tables.retention(runs),
            tables.compression_table(compressed),
            *tables.anchor_tables(runs),
            tables.prompt_places(runs),
            comparison_table(comparisons),
        ),
        compressions=compressed,
        comparisons=comparisons,
    )


def _run(run: RunMaterial) -> PaperRun:
    return PaperRun(
        name=run.name,
        title=run.found.title,
        audit=run.found.audit,
        tasks=len(run.found.tasks),
        judged=run.judged,
        provenance=run.analysis.provenance,
        banks=run.banks,
    )


def sentence(paper: Paper) -> str:
    """Sum up how many published figures are met."""
    counts = Counter(row.met for row in paper.comparisons)
    words = ", ".join(f"{counts[name]:,} {name}" for name in ORDER)
    again = sum(row.met == "met" and row.made_from == "the paper's scores" for row in paper.comparisons)
    return (
        f"{len(paper.comparisons):,} comparisons with figures that the paper printed: {words}. "
        f"{again:,} of those met follow from the scores that it prints, the others from runs of this audit."
    )


def cell_text(value: Any) -> str:
    """Write a value for people.

    >>> [cell_text(value) for value in (None, True, 3, 0.123456, -0.0001, 8.0, "a")]
    ['', 'yes', '3', '0.123', '0.000', '8', 'a']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) > 1 and value == round(value) else f"{round(value, 3) + 0.0:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def shown_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the columns that hold anything; the reason of a number that does not exist takes the place of the number.

    >>> shown_columns([{"a": None, "a_why": "no runs", "b": None}])
    ['a']
    """
    names = list(rows[0]) if rows else []
    used = {name for name in names if any(row[name] is not None for row in rows)}
    reasons = {f"{name}{WHY}" for name in names}
    return [name for name in names if name not in reasons and used & {name, f"{name}{WHY}"}]


def shown_cell(row: Mapping[str, Any], name: str) -> str:
    """Write a cell for people: the value, or the reason why there is none."""
    reason = row.get(f"{name}{WHY}")
    return str(reason) if row[name] is None and reason else cell_text(row[name])


def table_markdown(each: PaperTable, most: int = MOST_ROWS) -> str:
    """Write a table as Markdown; texts of benchmarks are escaped."""
    parts = [f"## {md(each.title)}", f"In the paper: {md(each.paper)}. In AgentHard: {md(each.ours)}. {md(each.note)}"]
    if each.missing:
        return "\n\n".join([*parts, f"Not made: {md(each.missing)}"]) + "\n"
    columns = shown_columns(each.rows)
    rows = [[md(shown_cell(row, name)) for name in columns] for row in each.rows[:most]]
    parts.append(table([md(name.replace("_", " ")) for name in columns], rows))
    if len(each.rows) > most:
        parts.append(f"{most:,} of {len(each.rows):,} rows; tables/{each.name}.csv has all.")
    return "\n\n".join(parts) + "\n"


def paper_markdown(paper: Paper) -> str:
    """Write everything as one Markdown document."""
    parts = [
        "# Tables of the audit paper\n",
        f"{md(sentence(paper))}\n",
        *(f"{md(_origin(run))}\n" for run in paper.runs),
    ]
    ordered = [paper.tables[-1], *paper.tables[:-1]]
    return "\n".join([*parts, *(table_markdown(each) for each in ordered)])


def _origin(run: PaperRun) -> str:
    made = run.provenance
    judged = "judged by models" if run.judged else "not judged by a model"
    return (
        f"{run.name}: {run.title}, {run.tasks:,} tasks, {judged}; release {made.benchmark} (content "
        f"{made.content_hash}), audit {made.audit_key}, policy {made.policy}, AgentHard {made.agenthard}; seed "
        f"{made.seed}, {made.draws:,} random subsets, level {made.level:g}, prompts embedded by {made.embedder}."
    )


def _write_page(paper: Paper, figures: Mapping[str, Mapping[str, Figure]], path: Path) -> None:
    drawn = {
        f"{anchor(run)}-{figure.id}": replace(figure, id=f"{anchor(run)}-{figure.id}")
        for run, some in figures.items()
        for figure in some.values()
    }
    write_figure_page(
        path,
        "paper.html.j2",
        title="Tables of the audit paper",
        figures=drawn,
        styles=STYLES,
        scripts=SCRIPTS,
        filters={"cell": cell_text, "shown": shown_columns, "in_row": shown_cell, "anchor": anchor},
        paper=paper,
        sentence=sentence(paper),
        origins=[_origin(run) for run in paper.runs],
        by_run={run: [(NUMBERS.get(f.id, ""), drawn[f"{anchor(run)}-{f.id}"]) for f in some.values()]
                for run, some in figures.items()},
        groups=_groups(paper.comparisons),
        banks={run.name: run.banks for run in paper.runs if not isinstance(run.banks, Undefined)},
        most=MOST_ROWS,
    )  # fmt: skip


def _groups(comparisons: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    found: dict[str, list[Comparison]] = {name: [row for row in comparisons if row.met == name] for name in ORDER}
    return {name: rows for name, rows in found.items() if rows}


def _file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    return path
