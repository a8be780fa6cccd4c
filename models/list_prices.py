"""List prices of providers, from the package genai-prices, which transcribes the providers' price pages."""

from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from typing import Any

from agenthard.models.prices import LongPrompt, Price

BATCH_SHARE = {"anthropic": 0.5, "google": 0.5, "openai": 0.5}
"""Share of the list price of a request in a batch, from the providers' pages; the package has it for few models."""


@cache
def list_price(model: str) -> Price | None:
    """Return the list price of today for a model, such as openai/gpt-4o; None when the package has none.

    Args:
        model: provider and name; a dated release of a known model has its price.
    """
    from genai_prices.data_snapshot import get_snapshot

    provider, _, name = model.partition("/")
    try:
        _, info = get_snapshot().find_provider_model(name, None, provider, None)
    except LookupError:
        return None
    today = datetime.now(UTC)
    listed = info.get_prices(today)
    prompt, completion = (getattr(listed, f"{kind}_mtok", None) for kind in ("input", "output"))
    cached = getattr(listed, "cache_read_mtok", None)
    if prompt is None or completion is None:
        return None
    starts = [tier.start for rate in (prompt, cached, completion) for tier in getattr(rate, "tiers", ())]
    long_prompt = None
    if starts:
        long_prompt = LongPrompt(
            above=min(starts), prompt=_highest(prompt), cached=_highest(cached), completion=_highest(completion)
        )
    return Price(
        model=model,
        prompt=_base(prompt),
        cached=_base(cached),
        completion=_base(completion),
        long_prompt=long_prompt,
        batch=BATCH_SHARE.get(provider, 1.0),
        date=f"{today:%Y-%m-%d}",
        source=f"list price of {provider}, from genai-prices {version('genai-prices')}",
    )


def _base(rate: Any) -> Any:
    return _number(getattr(rate, "base", rate))


def _highest(rate: Any) -> Any:
    """Return the rate of the longest prompts, so that a budget holds whatever the length."""
    return _number(max((tier.price for tier in getattr(rate, "tiers", ())), default=getattr(rate, "base", rate)))


def _number(rate: Decimal | None) -> float | None:
    return None if rate is None else float(rate)
