"""Estimate the cost of an evaluation before anything is asked (``agenthard evaluate --dry-run``)."""

from collections.abc import Iterator
from functools import reduce
from operator import add

from agenthard.flows.evaluation.benchmark import PlayableTask
from agenthard.flows.evaluation.episodes import Episode, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.models.cache import ReplyCache
from agenthard.models.estimate import Estimate, estimate
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.taxonomy.record import Record


class ModelForecast(Record):
    """Estimated cost of one model."""

    label: str
    """Label of the model."""
    episodes: int
    """Open episodes."""
    begun: int
    """Open episodes whose first reply is in the cache."""
    takes: Estimate | None
    """Requests, tokens and money; None when there is nothing to play."""


def forecast(settings: EvaluationSettings) -> list[ModelForecast]:
    """Estimate the cost of the models, without settled episodes and cached replies.

    Args:
        settings: The evaluation.

    Returns:
        One forecast per model.
    """
    prices = settings.price_table()
    done = set(_settled(settings))
    cache = ReplyCache(settings.cache_file) if settings.cache_file.exists() else None
    try:
        return [_of_model(settings, file, prices, done, cache) for file in settings.models]
    finally:
        if cache is not None:
            cache.close()


def _of_model(
    settings: EvaluationSettings, file: ModelFile, prices: PriceTable, done: set[Episode], cache: ReplyCache | None
) -> ModelForecast:
    takes: list[Estimate] = []
    episodes = begun = 0
    for task, episode in _planned(settings, file):
        if episode in done:
            continue
        first, workload = task.workload(file, episode.failure_rate, episode.trial)
        known = cache is not None and cache.has(file.addressed(first).digest)
        episodes, begun = episodes + 1, begun + known
        takes.append(estimate(workload.model_copy(update={"begun": int(known)}), prices))
    total = reduce(_together, takes) if takes else None
    return ModelForecast(label=file.label, episodes=episodes, begun=begun, takes=total)


def _planned(settings: EvaluationSettings, file: ModelFile) -> Iterator[tuple[PlayableTask, Episode]]:
    for variant, benchmark in settings.open_variants():
        for task in benchmark.tasks():
            for episode in episodes_of(task.id, (file.label,), settings.failure_rates, settings.trials, variant):
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
