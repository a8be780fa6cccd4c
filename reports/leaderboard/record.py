"""The record behind a page of leaderboards: several benchmarks, every split, and their versions."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version as package_version
from pathlib import Path

from agenthard.audit.statistics import Result, Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.leaderboard.boards import part_of, score_splits
from agenthard.reports.leaderboard.scored import BenchmarkBoards, RepairedRuns, ScoredName, apart, unique_anchors
from agenthard.reports.survey.audits import SurveyedAudit, load_audit
from agenthard.reports.survey.history import in_order_of_release
from agenthard.reports.survey.survey import named_folders
from agenthard.taxonomy.record import Record

DEFAULT: tuple[ScoredName, ...] = ("original", "clean")
"""Splits of a page where none is named."""


class VersionScores(Record):
    """One version of a benchmark in a history of scores."""

    run: str
    """Name of the run folder."""
    anchor: str
    """Anchor of its leaderboards."""
    version: str
    """Release label."""
    split_id: str
    """Id of the clean split: scores under different ids are of different tasks."""
    tasks: int
    """Tasks of the split."""
    scores: dict[str, Result]
    """Score on the clean split with its interval, by model; empty without a ranking."""
    ranks: dict[str, Result]
    """Rank with its interval, by model."""


class ScoreHistory(Record):
    """The scores of a benchmark's versions, the earliest first."""

    title: str
    """Name of the benchmark for people."""
    anchor: str
    """Anchor on the page."""
    order: str
    """How the versions were ordered."""
    same_tasks: bool
    """Whether all versions have the same clean split; otherwise their scores may not be compared."""
    versions: tuple[VersionScores, ...]
    """At least two."""
    models: tuple[str, ...]
    """All models, those of the latest version first."""


class Leaderboards(Record):
    """Leaderboards of several benchmarks."""

    schema_version: str = "1"
    """Version of this layout."""
    title: str
    """Title of the page."""
    agenthard: str
    """Version of AgentHard that made the page."""
    level: float
    """Coverage of every interval."""
    seed: int
    """Seed of every draw."""
    resamples: int
    """Bootstrap resamples behind every interval of a rank."""
    draws: int
    """Random subsets behind every null."""
    benchmarks: tuple[BenchmarkBoards, ...]
    """Benchmarks in the order in which their runs were given."""
    histories: tuple[ScoreHistory, ...]
    """Benchmarks of which several versions were given."""


def leaderboards(
    runs: Sequence[Path],
    splits: Sequence[ScoredName] = DEFAULT,
    settings: AnalysisSettings | None = None,
    *,
    domains: Sequence[str] = (),
    experiment: str | None = None,
    repaired: Mapping[Path, RepairedRuns] | None = None,
    title: str = "",
) -> Leaderboards:
    """Score the runs that finished audits read, on splits of their benchmarks.

    Args:
        runs: run folders; several of one benchmark are its history.
        splits: splits, in the order in which they are shown.
        settings: parameters; the defaults when None.
        domains: only tasks of these domains, such as those that all models ran; empty for all.
        experiment: which runs; None = those of the experiment with most comparable models, for each audit.
        repaired: the repaired split by run folder, where there is one.
        title: title of the page.

    Returns:
        The leaderboards.

    Raises:
        SurveyError: when no run is given, or two have the same name.
        RunTablesError: when a folder holds no finished audit of a known layout.
        AnalysisError: when the experiment or a domain does not exist.
    """
    settings, known = settings or AnalysisSettings(), repaired or {}
    folders = named_folders(runs)
    audits = [load_audit(folder) for folder in folders.values()]
    boards = apart(
        [
            score_splits(
                audit.run,
                part_of(audit.found, domains),
                splits,
                settings,
                domains=domains or audit.manifest["domains"],
                experiment=experiment,
                repaired=known.get(folders[audit.run]),
            )
            for audit in audits
        ]
    )
    names = list(dict.fromkeys(each.title for each in boards))
    return Leaderboards(
        title=title
        or (f"Leaderboard of {names[0]}" if len(names) == 1 else f"Leaderboards of {len(names)} benchmarks"),
        agenthard=package_version("agenthard"),
        level=settings.level,
        seed=settings.seed,
        resamples=settings.resamples,
        draws=settings.draws,
        benchmarks=boards,
        histories=_histories(audits, {each.run: each for each in boards}),
    )


def _histories(audits: Sequence[SurveyedAudit], boards: Mapping[str, BenchmarkBoards]) -> tuple[ScoreHistory, ...]:
    groups: dict[tuple[str, tuple[str, ...]], list[SurveyedAudit]] = {}
    for audit in audits:
        groups.setdefault((audit.found.audit.source, boards[audit.run].domains), []).append(audit)
    several = {key: members for key, members in groups.items() if len(members) > 1}
    anchors = unique_anchors(["-".join(["history", source, *domains]) for source, domains in several])
    found = []
    for (source, domains), members in several.items():
        ordered, order = in_order_of_release(members)
        versions = tuple(_version(boards[audit.run]) for audit in ordered)
        found.append(
            ScoreHistory(
                title=ordered[-1].found.title,
                anchor=anchors["-".join(["history", source, *domains])],
                order=order,
                same_tasks=len({version.split_id for version in versions}) == 1
                and len({audit.found.audit.content_hash for audit in ordered}) == 1,
                versions=versions,
                models=tuple(dict.fromkeys(model for version in reversed(versions) for model in version.scores)),
            )
        )
    return tuple(found)


def _version(boards: BenchmarkBoards) -> VersionScores:
    split = next((each for each in boards.splits if each.name == "clean"), boards.splits[0])
    card = split.card
    return VersionScores(
        run=boards.run,
        anchor=boards.anchor,
        version=boards.version,
        split_id="" if isinstance(card, Undefined) else card.split_id,
        tasks=0 if isinstance(card, Undefined) else card.n,
        scores={row.model: row.scores[split.name] for row in boards.models if split.name in row.scores},
        ranks={row.model: row.ranks[split.name] for row in boards.models if split.name in row.ranks},
    )
