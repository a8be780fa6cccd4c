"""The leaderboards as files for a web server: a page, fragments for iframes, and JSON; no file needs another."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.leaderboard import Board
from agenthard.reports.cleaning.ties import shared_ranks
from agenthard.reports.kit.files import write_json_text
from agenthard.reports.kit.page import write_figure_page
from agenthard.reports.leaderboard.record import DEFAULT, Leaderboards, leaderboards
from agenthard.reports.leaderboard.scored import BenchmarkBoards, RepairedRuns, ScoredName

PAGE, FRAGMENT, DATA = "index.html", "embed.html", "leaderboard.json"
STYLES = ("base.css", "top.css", "tables.css", "survey.css", "media.css")
SCRIPTS = ("dom.js", "sorting.js", "scrolling.js", "downloads.js")


def write_leaderboard_page(
    folder: Path,
    runs: Sequence[Path],
    splits: Sequence[ScoredName] = DEFAULT,
    settings: AnalysisSettings | None = None,
    *,
    domains: Sequence[str] = (),
    experiment: str | None = None,
    repaired: Mapping[Path, RepairedRuns] | None = None,
    title: str = "",
) -> list[Path]:
    """Score the runs that finished audits read, and write the leaderboards.

    Args:
        folder: where the files go; made when absent.
        runs: run folders; several of one benchmark are its history.
        splits: splits, in the order in which they are shown.
        settings: parameters; the defaults when None.
        domains: only tasks of these domains, such as those that all models ran; empty for all.
        experiment: which runs; None = those of the experiment with most comparable models, for each audit.
        repaired: the repaired split by run folder, where there is one.
        title: title of the page.

    Returns:
        The files written: ``index.html``, ``leaderboard.json``, ``embed.html`` with all benchmarks, and
        ``embed-ANCHOR.html`` with one.

    Raises:
        SurveyError: when no run is given, or two have the same name.
        RunTablesError: when a folder holds no finished audit of a known layout.
        AnalysisError: when the experiment or a domain does not exist.
    """
    found = leaderboards(runs, splits, settings, domains=domains, experiment=experiment, repaired=repaired, title=title)
    return write_leaderboards(found, folder)


def write_leaderboards(found: Leaderboards, folder: Path) -> list[Path]:
    """Write the page, the JSON twin and the fragments (see ``write_leaderboard_page``)."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / PAGE, folder / DATA]
    _write(found, found.benchmarks, files[0], "leaderboard.html.j2", SCRIPTS)
    write_json_text(files[1], found.model_dump(mode="json"), indent=2)
    fragments = {FRAGMENT: found.benchmarks} | {f"embed-{each.anchor}.html": (each,) for each in found.benchmarks}
    for name, benchmarks in fragments.items():
        files.append(folder / name)
        _write(found, benchmarks, files[-1], "leaderboard_embed.html.j2", ())
    return files


def _write(
    found: Leaderboards, benchmarks: Sequence[BenchmarkBoards], path: Path, template: str, scripts: Sequence[str]
) -> None:
    write_figure_page(
        path,
        template,
        title=found.title,
        figures={},
        styles=STYLES,
        scripts=scripts,
        filters={"shared_ranks": shared_ranks, "boards": _boards},
        found=found,
        benchmarks=benchmarks,
    )


def _boards(benchmark: BenchmarkBoards) -> dict[str, Board]:
    return {each.name: each.board for each in benchmark.splits if isinstance(each.board, Board)}
