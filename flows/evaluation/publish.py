"""The last stage of an evaluation: tables, trajectories and the report. Equal episodes give equal bytes."""

import gzip
from collections.abc import Sequence
from importlib.metadata import version as package_version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenthard.audit.statistics.judges import JudgeAgreement, JudgedAttempts
from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.benchmark import Benchmark
from agenthard.flows.evaluation.episode_table import other_axes, read_episodes, write_tables
from agenthard.flows.evaluation.episodes import Selection
from agenthard.flows.evaluation.settings import PAPER, EvaluationFolder, EvaluationSettings
from agenthard.flows.evaluation.shown_runs import shown_runs
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.turn_table import read_turns, write_turns
from agenthard.flows.run_folder import write_json
from agenthard.models.ledger import Ledger, Total
from agenthard.reports.evaluation import (
    About,
    EvaluationError,
    Published,
    analyse,
    read_published,
    write_evaluation,
)
from agenthard.reports.evaluation.agents import AgentRow
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.files import replacing
from agenthard.taxonomy.record import Record

if TYPE_CHECKING:
    import pandas as pd


class EvaluationOutcome(Record):
    """The result of an evaluation in figures, and the paths of its files."""

    folder: str
    """Run folder."""
    sentence: str
    """The result in a few sentences."""
    tasks: int
    """Tasks that were played."""
    unreadable: tuple[str, ...]
    """Tasks that could not be read, with the reason."""
    planned: int
    """Planned episodes."""
    settled: int
    """Episodes that need no further attempt."""
    without_verdict: int
    """Settled episodes that ended in an infrastructure error, after all attempts."""
    infrastructure_errors: dict[str, int]
    """Attempts that ended in an infrastructure error, by reason."""
    stopped: dict[str, str]
    """Models that could not be asked anything more, with the reason."""
    board: tuple[AgentRow, ...]
    """The leaderboard."""
    costs: tuple[Total, ...]
    """Tokens and costs by model and purpose; empty without models."""
    report: str
    """The report page."""
    trajectories: str
    """The runs, for ``agenthard audit --runs``."""

    @property
    def complete(self) -> bool:
        """Whether every planned episode has a verdict."""
        return self.settled == self.planned and not self.without_verdict and not self.unreadable


def publish_evaluation(settings: EvaluationSettings, stopped: dict[str, str]) -> EvaluationOutcome:
    """Write tables, trajectories and the report of all episodes so far.

    Args:
        settings: The evaluation.
        stopped: Models that stopped, with the reason.

    Raises:
        CommandError: A file with published results cannot be read.
    """
    folder, benchmark = settings.folder, settings.open()
    selection = settings.selection()
    store = EpisodeStore(folder.store)
    try:
        write_tables(folder, store, benchmark)
        write_turns(folder, store, benchmark)
        write_trajectories(folder, store)
        write_rollouts(folder, store)
        judges = _judges(store, selection) if settings.helpers() else ()
        tasks = sum(1 for _ in benchmark.tasks())
        settled = store.settled(selection, settings.attempts)
        lost = settled - store.scored(selection)
        reasons = dict(store.reasons(selection))
    finally:
        store.close()
    episodes = _asked(read_episodes(folder), settings, benchmark)
    episodes = episodes[episodes["trial"] < selection.trials]
    turns = read_turns(folder)
    turns = None if turns is None else _asked(turns, settings, benchmark)
    published = read_compared(settings.compare, benchmark.declared)
    about = _about(settings, benchmark, tasks)
    analysis = analyse(episodes, about, published, benchmark.declared, turns, judges)
    page, *_ = write_evaluation(analysis, folder.report, shown_runs(folder, benchmark))
    costs = _costs(settings)
    outcome = EvaluationOutcome(
        folder=settings.out,
        sentence=analysis.sentence,
        tasks=tasks,
        unreadable=tuple(benchmark.unreadable()),
        planned=tasks * settings.planned_per_task,
        settled=settled,
        without_verdict=lost,
        infrastructure_errors=reasons,
        stopped=stopped,
        board=analysis.board,
        costs=costs,
        report=str(page),
        trajectories=str(folder.trajectories),
    )
    write_json(folder.root / "manifest.json", _manifest(settings, benchmark, outcome))
    return outcome


def _judges(store: EpisodeStore, selection: Selection) -> tuple[JudgeAgreement, ...]:
    """Measure the agreement of the models that judged the planned episodes."""
    judged = JudgedAttempts()
    for episode, run in store.trajectories():
        if selection.holds(episode):
            judged.add(run)
    return judged.agreement()


def _asked(table: "pd.DataFrame", settings: EvaluationSettings, benchmark: Benchmark) -> "pd.DataFrame":
    """Keep the rows of the agents and conditions of this evaluation; the folder may hold others."""
    selection = settings.selection()
    asked = table["agent"].isin(selection.agents) & table["failure_rate"].isin(selection.failure_rates)
    for axis in other_axes(benchmark.declared):
        asked &= table[axis.name].isin(settings.axes.get(axis.condition, table[axis.name]))
    return table[asked]


def read_compared(files: Sequence[str], declared: Declared) -> list[Published]:
    """Read files of published results; ``paper`` means those that come with the benchmark.

    Args:
        files: paths, or ``paper``.
        declared: what the benchmark declares.

    Raises:
        CommandError: A file cannot be read, or the benchmark comes with none.
    """
    paths = [path for each in files for path in (declared.published if each == PAPER else (Path(each),))]
    if PAPER in files and not declared.published:
        raise CommandError("--compare paper: this benchmark comes with no published results; give a CSV file")
    try:
        return [read_published(path, declared) for path in paths]
    except EvaluationError as error:
        raise CommandError(str(error)) from error


def _about(settings: EvaluationSettings, benchmark: Benchmark, tasks: int) -> About:
    return About(
        title=f"Evaluation on {settings.benchmark}",
        suite=Path(settings.path).name,
        seeds={"evaluation": settings.seed},
        versions={"agenthard": package_version("agenthard"), "content": benchmark.content_hash()[:16]},
        conditions={**_conditions(settings, benchmark), "trials": settings.trials, "attempts": settings.attempts},
        planned={name: tasks * settings.selection()._replace(agents=(name,)).per_task for name in settings.contestants},
    )


def _conditions(settings: EvaluationSettings, benchmark: Benchmark) -> dict[str, Any]:
    """Return the conditions by name; of those that vary, all values."""
    found = dict(benchmark.conditions())
    for variant, options in settings.variants.items() if settings.axes else ():
        of_variant = settings.open_variant(options).conditions()
        found |= {f"{name} ({variant})": each for name, each in of_variant.items() if name not in found}
    return {**found, **{name: ", ".join(values) for name, values in settings.axes.items()}}


def _costs(settings: EvaluationSettings) -> tuple[Total, ...]:
    if not settings.folder.ledger.is_file():
        return ()
    ledger = Ledger(settings.folder.ledger)
    try:
        return tuple(ledger.totals())
    finally:
        ledger.close()


def _manifest(settings: EvaluationSettings, benchmark: Benchmark, outcome: EvaluationOutcome) -> dict[str, Any]:
    return {
        "agenthard": package_version("agenthard"),
        "settings": settings.model_dump(mode="json", exclude={"workers", "in_flight", "out", "cache", "scale_out"}),
        "conditions": _conditions(settings, benchmark),
        "content": benchmark.content_hash(),
        "outcome": outcome.model_dump(
            mode="json", include={"tasks", "planned", "settled", "without_verdict", "stopped"}
        ),
        "unreadable": list(outcome.unreadable),
        "costs": [total.model_dump(mode="json") for total in outcome.costs],
    }


def write_trajectories(folder: EvaluationFolder, store: EpisodeStore) -> int:
    """Write the last attempt of every episode as native JSON Lines, which ``agenthard audit --runs`` reads.

    Returns:
        Number of runs.
    """
    count = 0
    with (
        replacing(folder.trajectories) as partial,
        partial.open("wb") as file,
        gzip.GzipFile("", "wb", 5, file, mtime=0) as packed,
    ):
        for _, run in store.trajectories():
            packed.write(run.model_dump_json().encode("utf-8") + b"\n")
            count += 1
    return count


def write_rollouts(folder: EvaluationFolder, store: EpisodeStore) -> None:
    """Write what the benchmark keeps of its runs besides them as JSON Lines; without any, no file."""
    records = store.records()
    first = next(records, None)
    if first is None:
        return
    with (
        replacing(folder.rollouts) as partial,
        partial.open("wb") as file,
        gzip.GzipFile("", "wb", 5, file, mtime=0) as packed,
    ):
        for record in chain([first], records):
            packed.write(record + b"\n")
