"""The last stage of an evaluation: tables, trajectories, and the report."""

from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.benchmark import Benchmark
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.flows.evaluation.tables import read_episodes, write_tables, write_trajectories
from agenthard.flows.run_folder import write_json
from agenthard.models.ledger import Ledger, Total
from agenthard.reports.evaluation import About, EvaluationError, analyse, read_published, write_evaluation
from agenthard.reports.evaluation.agents import AgentRow
from agenthard.taxonomy.record import Record


class EvaluationOutcome(Record):
    """The result of an evaluation in figures, and where its files are."""

    folder: str
    """Run folder."""
    sentence: str
    """The outcome in a few sentences."""
    tasks: int
    """Tasks that were played."""
    unreadable: tuple[str, ...]
    """Tasks that could not be read, with the reason."""
    planned: int
    """Episodes that were asked for."""
    settled: int
    """Episodes that need no further attempt."""
    without_verdict: int
    """Those of them that ended in an infrastructure error, after all attempts."""
    infrastructure_errors: dict[str, int]
    """Why attempts ended so, and how many did."""
    stopped: dict[str, str]
    """Models that nothing more could be asked of, with the reason."""
    board: tuple[AgentRow, ...]
    """The leaderboard."""
    costs: tuple[Total, ...]
    """What models took, by model and purpose; empty without models."""
    report: str
    """The page."""
    trajectories: str
    """The runs, for ``agenthard audit --runs``."""

    @property
    def complete(self) -> bool:
        """Whether every episode that was asked for has a verdict."""
        return self.settled == self.planned and not self.without_verdict and not self.unreadable


def publish_evaluation(settings: EvaluationSettings, stopped: dict[str, str]) -> EvaluationOutcome:
    """Write tables, trajectories and the report of what has been played so far.

    Args:
        settings: the evaluation.
        stopped: models that stopped, with the reason.

    Raises:
        CommandError: a file with published results cannot be read.
    """
    folder, benchmark = settings.folder, settings.open()
    selection = settings.selection()
    store = EpisodeStore(folder.store)
    try:
        write_tables(folder, store)
        write_trajectories(folder, store)
        tasks = sum(1 for _ in benchmark.tasks())
        settled = store.settled(selection, settings.attempts)
        lost = settled - store.scored(selection)
        reasons = dict(store.reasons(selection))
    finally:
        store.close()
    episodes = read_episodes(folder)
    asked = episodes["agent"].isin(selection.agents) & episodes["failure_rate"].isin(selection.failure_rates)
    episodes = episodes[asked & (episodes["trial"] < selection.trials)]
    try:
        published = [read_published(Path(path)) for path in settings.compare]
    except EvaluationError as error:
        raise CommandError(str(error)) from error
    analysis = analyse(episodes, _about(settings, benchmark, tasks), published)
    page, *_ = write_evaluation(analysis, folder.report)
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


def _about(settings: EvaluationSettings, benchmark: Benchmark, tasks: int) -> About:
    return About(
        title=f"Evaluation on {settings.benchmark}",
        suite=Path(settings.path).name,
        seeds={"evaluation": settings.seed},
        versions={"agenthard": package_version("agenthard"), "content": benchmark.content_hash()[:16]},
        conditions={**benchmark.conditions(), "trials": settings.trials, "attempts": settings.attempts},
        planned=dict.fromkeys(settings.contestants, tasks * len(settings.failure_rates) * settings.trials),
    )


def _costs(settings: EvaluationSettings) -> tuple[Total, ...]:
    if not settings.models:
        return ()
    ledger = Ledger(settings.folder.ledger)
    try:
        return tuple(ledger.totals())
    finally:
        ledger.close()


def _manifest(settings: EvaluationSettings, benchmark: Benchmark, outcome: EvaluationOutcome) -> dict[str, Any]:
    return {
        "agenthard": package_version("agenthard"),
        "settings": settings.model_dump(mode="json", exclude={"workers", "in_flight", "out", "cache"}),
        "conditions": dict(benchmark.conditions()),
        "content": benchmark.content_hash(),
        "outcome": outcome.model_dump(
            mode="json", include={"tasks", "planned", "settled", "without_verdict", "stopped"}
        ),
        "unreadable": list(outcome.unreadable),
        "costs": [total.model_dump(mode="json") for total in outcome.costs],
    }
