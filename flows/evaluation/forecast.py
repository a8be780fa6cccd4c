"""Estimate the cost of an evaluation before anything is asked (``agenthard evaluate --dry-run``)."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

from agenthard.flows.evaluation.benchmark import ForeseesHelpers, PlayableTask
from agenthard.flows.evaluation.episodes import Episode, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.models.cache import ReplyCache
from agenthard.models.estimate import Estimate, estimate
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.taxonomy.record import Record

PLAYS = "agent"
"""Purpose of an agent's requests, in the ledger."""


class ModelForecast(Record):
    """Estimated cost of one model for one purpose."""

    label: str
    """Label of the model."""
    purpose: str = PLAYS
    """What it is asked for: to play, to judge, to be the user."""
    episodes: int
    """Open episodes that it takes part in."""
    begun: int
    """Open episodes that it plays and whose first reply is in the cache."""
    takes: Estimate | None
    """Requests, tokens and money; None when there is nothing to play."""


def forecast(settings: EvaluationSettings) -> list[ModelForecast]:
    """Estimate the cost of the models, without settled episodes and cached replies of agents.

    What judges and simulated users have in the cache cannot be told before the play, and is not taken off.

    Args:
        settings: The evaluation.

    Returns:
        One forecast per model that plays, then one per model and purpose of those that take part besides.
    """
    prices = settings.price_table().after(file.price for file in settings.helpers() if file.price is not None)
    done = set(_settled(settings))
    cache = ReplyCache(settings.cache_file) if settings.cache_file.exists() else None
    try:
        players = [_of_model(settings, file, prices, done, cache) for file in settings.models]
    finally:
        if cache is not None:
            cache.close()
    return players + _of_helpers(settings, prices, done)


def _of_model(
    settings: EvaluationSettings, file: ModelFile, prices: PriceTable, done: set[Episode], cache: ReplyCache | None
) -> ModelForecast:
    takes: list[Estimate] = []
    episodes = begun = 0
    for task, episode in _planned(settings, (file.label,)):
        if episode in done:
            continue
        first, workload = task.workload(file, episode.failure_rate, episode.trial)
        known = cache is not None and cache.has(file.addressed(first).digest)
        episodes, begun = episodes + 1, begun + known
        takes.append(estimate(workload.model_copy(update={"begun": int(known)}), prices))
    total = reduce(_together, takes) if takes else None
    return ModelForecast(label=file.label, episodes=episodes, begun=begun, takes=total)


def _of_helpers(settings: EvaluationSettings, prices: PriceTable, done: set[Episode]) -> list[ModelForecast]:
    """Estimate the models besides the agents; agents without a model are judged and answered too."""
    found: dict[tuple[str, str], ModelForecast] = {}
    for task, episode in _planned(settings, settings.contestants) if settings.helpers() else ():
        if episode in done or not isinstance(task, ForeseesHelpers):
            continue
        mine: dict[tuple[str, str], Estimate] = {}
        for file, purpose, workload in task.helper_workloads():
            key, takes = (file.label, purpose), estimate(workload, prices)
            mine[key] = _together(mine[key], takes) if key in mine else takes
        for (label, purpose), estimated in mine.items():
            before = found.get((label, purpose))
            if before is not None and before.takes is not None:
                estimated = _together(before.takes, estimated)
            episodes = before.episodes + 1 if before else 1
            found[label, purpose] = ModelForecast(
                label=label, purpose=purpose, episodes=episodes, begun=0, takes=estimated
            )
    return list(found.values())


def _planned(settings: EvaluationSettings, agents: Sequence[str]) -> Iterator[tuple[PlayableTask, Episode]]:
    for variant, benchmark in settings.open_variants():
        for task in benchmark.tasks():
            for episode in episodes_of(task.id, agents, settings.failure_rates, settings.trials, variant):
                yield task, episode


def _together(one: Estimate, other: Estimate) -> Estimate:
    cost = None if one.cost is None or other.cost is None else one.cost + other.cost
    sums = {name: add(getattr(one, name), getattr(other, name)) for name in _SUMS}
    return Estimate(model=one.model, cost=cost, **sums)


_SUMS = ("requests", "prompt_tokens", "completion_tokens")


def _settled(settings: EvaluationSettings) -> Iterator[Episode]:
    if settings.folder.store.exists():
        store = EpisodeStore(settings.folder.store)
        try:
            yield from store.settled_episodes(settings.attempts)
        finally:
            store.close()
