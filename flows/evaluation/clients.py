"""The models of an evaluation, ready to be asked: one cache, one ledger and one budget for all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.budget import Budget
from agenthard.models.cache import ReplyCache
from agenthard.models.client import ModelClient
from agenthard.models.ledger import Ledger
from agenthard.models.prices import PriceTable, load_prices


def price_table(settings: EvaluationSettings) -> PriceTable:
    """Read the prices: those of model files, then the user's table, then the one that ships.

    Raises:
        ConfigurationError: A table cannot be read, or a budget in money is set for a model without a price.
    """
    table = load_prices(Path(settings.prices) if settings.prices else None)
    table = table.after(file.price for file in settings.models if file.price is not None)
    budget_of(settings).require_prices([file.name for file in settings.models], table)
    return table


def budget_of(settings: EvaluationSettings) -> Budget:
    """Return the limits of the run."""
    return Budget(money=settings.budget, tokens=settings.token_budget)


def cache_path(settings: EvaluationSettings) -> Path:
    """Return the file of cached replies."""
    return Path(settings.cache) if settings.cache else settings.folder.cache


@asynccontextmanager
async def open_client(settings: EvaluationSettings) -> AsyncIterator[ModelClient]:
    """Open the client that asks all models.

    Raises:
        ConfigurationError: Prices, budget or a file are wrong.
    """
    cache, ledger = ReplyCache(cache_path(settings)), Ledger(settings.folder.ledger)
    client = ModelClient(
        settings.models,
        cache=cache,
        ledger=ledger,
        prices=price_table(settings),
        rng=Random(settings.seed),
        budget=budget_of(settings),
    )
    try:
        yield client
    finally:
        await client.close()
        ledger.close()
        cache.close()
