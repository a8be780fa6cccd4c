"""Prices of tokens: the user's own table, and where it has none the list prices of the providers.

These come from the package genai-prices, which transcribes the price pages of the providers.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from agenthard.models.errors import ConfigurationError
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_yaml, read_yaml_text

MILLION = 1_000_000
CURRENCY = "USD"
"""Currency of the list prices."""
BATCH_SHARE = {"anthropic": 0.5, "google": 0.5, "openai": 0.5}
"""Share of the list price of a request in a batch, from the providers' pages; the package has it for few models."""


class Rates(Record):
    """Money for a million tokens."""

    prompt: float = Field(ge=0)
    """Tokens of the request."""
    cached: float | None = Field(default=None, ge=0)
    """Tokens of the request that the provider had cached; None prices them like the others."""
    completion: float = Field(ge=0)
    """Tokens of the reply, reasoning included."""

    def cost(self, usage: Usage) -> float:
        """Return the cost of these tokens."""
        cached_rate = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (
            fresh * self.prompt + usage.cached_tokens * cached_rate + usage.completion_tokens * self.completion
        ) / MILLION


class LongPrompt(Rates):
    """Rates of a whole request with a long prompt."""

    above: int = Field(ge=1)
    """Tokens of the prompt above which these rates apply."""


class Price(Rates):
    """The price of one model."""

    model: str
    """Full name of the model; ``*`` stands for any text."""
    date: str = Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$")
    """Month or day on which the price was valid."""
    source: str
    """Source of the price."""
    long_prompt: LongPrompt | None = None
    """Other rates for long prompts."""
    batch: float = Field(default=1.0, gt=0, le=1)
    """Share of the price that applies in a batch; 1 where no discount is known."""

    @field_validator("date", mode="before")
    @classmethod
    def _date_as_text(cls, value: Any) -> str:
        return str(value)  # YAML reads an unquoted day as a date

    def cost(self, usage: Usage) -> float:
        """Return the cost of one request and its reply."""
        if self.long_prompt is not None and usage.prompt_tokens > self.long_prompt.above:
            return self.long_prompt.cost(usage)
        return super().cost(usage)


class PriceTable(Record):
    """Prices in one currency."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    """Code of the currency, such as USD."""
    prices: tuple[Price, ...] = ()
    """Prices; an exact name takes precedence over a pattern, a longer pattern over a shorter one, then the first."""
    listed: bool = False
    """Whether a model that no price names has the list price of its provider."""

    @model_validator(mode="after")
    def _exact_names_first(self) -> "PriceTable":
        ordered = sorted(self.prices, key=lambda price: ("*" in price.model, -len(price.model)))
        object.__setattr__(self, "prices", tuple(ordered))
        return self

    def after(self, own: Iterable[Price]) -> "PriceTable":
        """Return the table with further prices, which take precedence over those for the same name."""
        return PriceTable(currency=self.currency, prices=(*own, *self.prices), listed=self.listed)

    def of(self, model: str) -> Price | None:
        """Return the price of a model; None when the table has none, which is not a price of 0."""
        for price in self.prices:
            if re.fullmatch(re.escape(price.model).replace(r"\*", ".*"), model):
                return price
        return list_price(model) if self.listed else None

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of a reply; None when the model has no price."""
        price = self.of(model)
        return None if price is None else price.cost(usage)

    def batch_cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of a reply in a batch; None when the model has no price."""
        cost = self.cost(model, usage)
        return None if cost is None else cost * self.batch_share(model)

    def batch_share(self, model: str) -> float:
        """Return the share of its price that a model costs in a batch; 1 when it has no price."""
        price = self.of(model)
        return 1.0 if price is None else price.batch


def load_prices(path: Path | None = None) -> PriceTable:
    """Read the user's prices; a model that they do not name has the list price of its provider.

    Args:
        path: A YAML file as in docs/model-costs.md, in the currency of the list prices.

    Raises:
        ConfigurationError: The file cannot be read, is not a price table, or has another currency.
    """
    if path is None:
        return PriceTable(currency=CURRENCY, listed=True)
    try:
        own = _parse(read_yaml_text(path), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the price table {path}: {error}") from error
    if own.currency != CURRENCY:
        raise ConfigurationError(
            f"{path} is in {own.currency}, the list prices of the providers in {CURRENCY}; give prices in that currency"
        )
    return own.model_copy(update={"listed": True})


def _parse(text: str, name: str) -> PriceTable:
    try:
        table = PriceTable.model_validate(load_yaml(text))
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{name}: not valid YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "top level"
        raise ConfigurationError(
            f"{name}, {place}: {first['msg']}; docs/model-costs.md shows an example of a price table"
        ) from error
    names = [price.model for price in table.prices]
    if twice := sorted({model for model in names if names.count(model) > 1}):
        raise ConfigurationError(f"{name}: {twice[0]} has two prices; keep one of them")
    return table


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
