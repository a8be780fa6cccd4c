"""What a run may spend, and what one request can cost at most."""

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import Field

from agenthard.models.errors import ConfigurationError
from agenthard.models.prices import PriceTable
from agenthard.models.request import Request, Usage
from agenthard.models.tokens import most_output_tokens, most_prompt_tokens
from agenthard.taxonomy.record import Record

ROUNDING = 1e-9
"""Money that sums of many small costs may be off by."""


class Amount(NamedTuple):
    """Requests, tokens and money."""

    calls: int
    """Requests sent."""
    tokens: int
    """Tokens of prompts and replies."""
    money: float
    """Cost in the currency of the price table; what has no price counts 0."""


class Budget(Record):
    """Hard limits of a run; None sets none."""

    money: float | None = Field(default=None, ge=0)
    """Cost, in the currency of the price table."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens of prompts and replies."""
    calls: int | None = Field(default=None, ge=0)
    """Requests sent, repeated ones included."""

    def allows(self, total: Amount) -> bool:
        """Whether a run may come to this."""
        return (
            (self.money is None or total.money <= self.money + ROUNDING)
            and (self.tokens is None or total.tokens <= self.tokens)
            and (self.calls is None or total.calls <= self.calls)
        )

    def used(self, spent: Amount, currency: str) -> str:
        """What is spent of each limit, in words."""
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
                f"a budget in {prices.currency} cannot hold for {', '.join(unpriced)}: no price is known. "
                "Add it to your price table (0 for a model of your own), or set the budget in tokens"
            )


def most(request: Request, prices: PriceTable) -> Amount:
    """What one attempt at a request can take at most: a generous prompt and the longest reply it allows.

    Args:
        request: What is asked.
        prices: What it costs; a model without a price counts no money.
    """
    usage = Usage(prompt_tokens=most_prompt_tokens(request), completion_tokens=most_output_tokens(request))
    return Amount(1, usage.prompt_tokens + usage.completion_tokens, prices.cost(request.model, usage) or 0.0)
