"""What tokens cost: the table that ships, and the user's own before it."""

import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from agenthard.models.errors import ConfigurationError
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_yaml, read_yaml_text

MILLION = 1_000_000


class Rates(Record):
    """Money for a million tokens."""

    prompt: float = Field(ge=0)
    """Tokens of the request."""
    cached: float | None = Field(default=None, ge=0)
    """Tokens of the request that the provider had cached; None prices them like the others."""
    completion: float = Field(ge=0)
    """Tokens of the reply, thoughts included."""

    def cost(self, usage: Usage) -> float:
        """Money for these tokens."""
        cached_rate = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (
            fresh * self.prompt + usage.cached_tokens * cached_rate + usage.completion_tokens * self.completion
        ) / MILLION


class LongPrompt(Rates):
    """Rates of a whole request whose prompt is long."""

    above: int = Field(ge=1)
    """Tokens of the prompt above which they hold."""


class Price(Rates):
    """What one model costs."""

    model: str
    """Full name of the model; ``*`` stands for any text."""
    date: str = Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$")
    """Month or day on which the price was true."""
    source: str
    """Where it was read."""
    long_prompt: LongPrompt | None = None
    """Other rates for long prompts."""
    batch: float = Field(default=1.0, gt=0, le=1)
    """Share of the price that a request costs in a batch; 1 where no discount is known."""

    @field_validator("date", mode="before")
    @classmethod
    def _date_as_text(cls, value: Any) -> str:
        return str(value)  # YAML reads an unquoted day as a date

    def cost(self, usage: Usage) -> float:
        """Money for one request and its reply."""
        if self.long_prompt is not None and usage.prompt_tokens > self.long_prompt.above:
            return self.long_prompt.cost(usage)
        return super().cost(usage)


class PriceTable(Record):
    """Prices in one currency."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    """Code of the currency, such as USD."""
    prices: tuple[Price, ...] = ()
    """Prices; an exact name goes before a pattern, a longer pattern before a shorter one, the first of equals wins."""

    @model_validator(mode="after")
    def _exact_names_first(self) -> "PriceTable":
        ordered = sorted(self.prices, key=lambda price: ("*" in price.model, -len(price.model)))
        object.__setattr__(self, "prices", tuple(ordered))
        return self

    def after(self, own: Iterable[Price]) -> "PriceTable":
        """The table with further prices that go before those for the same name."""
        return PriceTable(currency=self.currency, prices=(*own, *self.prices))

    def of(self, model: str) -> Price | None:
        """The price of a model; None when the table has none, which is not a price of 0."""
        for price in self.prices:
            if re.fullmatch(re.escape(price.model).replace(r"\*", ".*"), model):
                return price
        return None

    def cost(self, model: str, usage: Usage) -> float | None:
        """What a reply cost; None when the model has no price."""
        price = self.of(model)
        return None if price is None else price.cost(usage)

    def batch_share(self, model: str) -> float:
        """Share of its price that a request costs in a batch; 1 when the model has no price."""
        price = self.of(model)
        return 1.0 if price is None else price.batch


def load_prices(path: Path | None = None) -> PriceTable:
    """The prices that ship, after those of the user's file.

    Args:
        path: A YAML file of the same form as models/prices.yaml, in the same currency.

    Raises:
        ConfigurationError: The file cannot be read, is no price table, or has another currency.
    """
    shipped = _parse(
        files("agenthard.models").joinpath("prices.yaml").read_text(encoding="utf-8"), "models/prices.yaml"
    )
    if path is None:
        return shipped
    try:
        own = _parse(read_yaml_text(path), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the price table {path}: {error}") from error
    if own.currency != shipped.currency:
        raise ConfigurationError(
            f"{path} is in {own.currency}, the table that ships in {shipped.currency}; give prices in that currency"
        )
    return shipped.after(own.prices)


def _parse(text: str, name: str) -> PriceTable:
    try:
        table = PriceTable.model_validate(load_yaml(text))
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{name} is no YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "top level"
        raise ConfigurationError(
            f"{name}, {place}: {first['msg']}; docs/model-costs.md shows what a price table looks like"
        ) from error
    names = [price.model for price in table.prices]
    if twice := sorted({model for model in names if names.count(model) > 1}):
        raise ConfigurationError(f"{name} prices {twice[0]} twice; keep one of them")
    return table
