"""What models would take, before anything is asked: ``agenthard evaluate --dry-run``."""

from collections.abc import Iterator
from functools import reduce
from operator import add

from agenthard.flows.commands.output import console, print_json, print_table
from agenthard.flows.evaluation.clients import cache_path, price_table
from agenthard.flows.evaluation.episodes import Episode, episodes_of
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.evaluation.store import EpisodeStore
from agenthard.models.cache import ReplyCache
from agenthard.models.estimate import Estimate, Spread, estimate
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.taxonomy.record import Record


class ModelForecast(Record):
    """What one model would take."""

    label: str
    """Label of the model."""
    episodes: int
    """Episodes that are still to be played."""
    begun: int
    """Those whose first reply is in the cache."""
    takes: Estimate | None
    """Requests, tokens and money; None when there is nothing to play."""


def forecast(settings: EvaluationSettings) -> list[ModelForecast]:
    """Foresee what the models of an evaluation will take, net of what is done and what is cached.

    Args:
        settings: the evaluation.

    Returns:
        One forecast per model.
    """
    prices = price_table(settings)
    done = set(_settled(settings))
    cache = ReplyCache(cache_path(settings)) if cache_path(settings).exists() else None
    try:
        return [_of_model(settings, file, prices, done, cache) for file in settings.models]
    finally:
        if cache is not None:
            cache.close()


def show_forecast(settings: EvaluationSettings, *, as_json: bool) -> None:
    """Print the forecast."""
    found = forecast(settings)
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    currency = price_table(settings).currency
    rows = []
    for each in found:
        if each.takes is None:
            rows.append((each.label, "0", "", "", "", ""))
            continue
        takes = each.takes
        cost = "no price" if takes.cost is None else _range(takes.cost, 2)
        tokens = (_range(takes.prompt_tokens), _range(takes.completion_tokens))
        rows.append((each.label, f"{each.episodes:,} ({each.begun:,} begun)", _range(takes.requests), *tokens, cost))
    print_table("", ("model", "episodes", "requests", "prompt tokens", "completion tokens", f"cost, {currency}"), rows)
    console().print("\nlow – typical – high; nothing was sent", markup=False)


def _of_model(
    settings: EvaluationSettings, file: ModelFile, prices: PriceTable, done: set[Episode], cache: ReplyCache | None
) -> ModelForecast:
    takes: list[Estimate] = []
    episodes = begun = 0
    for task in settings.open().tasks():
        for episode in episodes_of(task.id, (file.label,), settings.failure_rates, settings.trials):
            if episode in done:
                continue
            first, workload = task.workload(file, episode.failure_rate, episode.trial)
            known = cache is not None and cache.has(file.addressed(first).digest)
            episodes, begun = episodes + 1, begun + known
            takes.append(estimate(workload.model_copy(update={"begun": int(known)}), prices))
    total = reduce(_together, takes) if takes else None
    return ModelForecast(label=file.label, episodes=episodes, begun=begun, takes=total)


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


def _range(spread: Spread, digits: int = 0) -> str:
    return " – ".join(f"{value:,.{digits}f}" for value in (spread.low, spread.typical, spread.high))
