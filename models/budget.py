"""The budget of a run, and the maximum cost of one request."""

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import Field

from agenthard.models.errors import ConfigurationError
from agenthard.models.prices import PriceTable
from agenthard.models.request import Request, Usage
from agenthard.models.tokens import most_output_tokens, most_prompt_tokens
from agenthard.taxonomy.record import Record

ROUNDING = 1e-9
"""Tolerance for the rounding errors of sums over many small costs."""


class Amount(NamedTuple):
    """Requests, tokens and money."""

    calls: int
    """Requests sent."""
    tokens: int
    """Tokens of prompts and replies."""
    money: float
    """Cost in the currency of the price table; a model without a price counts 0."""


class Budget(Record):
    """Hard limits of a run; None sets none."""

    money: float | None = Field(default=None, ge=0)
    """Cost, in the currency of the price table."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens of prompts and replies."""
    calls: int | None = Field(default=None, ge=0)
    """Requests sent, retries included."""

    def allows(self, total: Amount) -> bool:
        """Return whether this total is within the limits."""
        return (
            (self.money is None or total.money <= self.money + ROUNDING)
            and (self.tokens is None or total.tokens <= self.tokens)
            and (self.calls is None or total.calls <= self.calls)
        )

    def used(self, spent: Amount, currency: str) -> str:
        """Describe how much of each limit is spent."""
        parts = []
        if self.money is not None:
            parts.append(f"{spent.money:.4f} of {self.money:g} {currency}")
        if self.tokens is not None:
            parts.append(f"{spent.tokens:,} of {self.tokens:,} tokens")
        if self.calls is not None:
            parts.append(f"{spent.calls:,} of {self.calls:,} requests")
        return ", ".join(parts)

    def require_prices(self, models: Iterable[str], prices: PriceTable) -> None:
        """Refuse a limit on money for models without a price, before any work.

        Raises:
            ConfigurationError: A model has no price.
        """
        if self.money is None:
            return
        if unpriced := sorted({model for model in models if prices.of(model) is None}):
            raise ConfigurationError(
                f"a budget in {prices.currency} needs a price for {', '.join(unpriced)}. "
                "Add it to your price table (0 for a model of your own), or set the budget in tokens"
            )


def max_amount(request: Request, prices: PriceTable) -> Amount:
    """Return the maximum cost of one attempt at a request: an upper estimate of the prompt, and the longest reply.

    Args:
        request: The request.
        prices: Prices; a model without a price costs no money.
    """
    usage = Usage(prompt_tokens=most_prompt_tokens(request), completion_tokens=most_output_tokens(request))
    return Amount(1, usage.prompt_tokens + usage.completion_tokens, prices.cost(request.model, usage) or 0.0)
