"""Estimate a run before anything is sent: requests, tokens and money, each as low, typical and high."""

from collections.abc import Callable

from pydantic import Field, model_validator

from agenthard.models.prices import PriceTable
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record


class Spread(Record):
    """An estimated quantity."""

    low: float = Field(ge=0)
    """Low estimate."""
    typical: float = Field(ge=0)
    """Typical value."""
    high: float = Field(ge=0)
    """High estimate."""

    @model_validator(mode="after")
    def _in_order(self) -> "Spread":
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"low {self.low}, typical {self.typical} and high {self.high} are not in order")
        return self

    def __add__(self, other: "Spread") -> "Spread":
        """Adds low to low, typical to typical and high to high."""
        return Spread(low=self.low + other.low, typical=self.typical + other.typical, high=self.high + other.high)


class Workload(Record):
    """Episodes of one model for one purpose."""

    model: str
    """Full name of the model."""
    episodes: int = Field(ge=0)
    """Number of episodes."""
    begun: int = Field(default=0, ge=0)
    """Episodes whose first request has a cached reply."""
    requests: Spread
    """Requests per episode."""
    prompt_tokens: Spread
    """Tokens of a prompt, on average over the requests of an episode."""
    completion_tokens: Spread
    """Tokens of a reply, reasoning included."""

    @model_validator(mode="after")
    def _begun_are_episodes(self) -> "Workload":
        if self.begun > self.episodes:
            raise ValueError(f"{self.begun} episodes begun are more than {self.episodes} in all")
        return self


class Estimate(Record):
    """Estimated cost of a workload."""

    model: str
    """Full name of the model."""
    requests: Spread
    """Requests to send, without retries."""
    prompt_tokens: Spread
    """Tokens of all prompts."""
    completion_tokens: Spread
    """Tokens of all replies."""
    cost: Spread | None
    """Cost, without discounts for cached prompts; None when the model has no price."""


def estimate(workload: Workload, prices: PriceTable) -> Estimate:
    """Estimate the cost of a workload, without cached replies.

    For an episode that has begun, the low and typical estimates assume that all of its replies are cached, the high
    estimate only the first. Low takes every episode at its shortest, high every episode at its longest. This is wider
    than independent lengths would be, since the lengths of a model's episodes correlate.

    Args:
        workload: The workload.
        prices: Prices.
    """
    price = prices.of(workload.model)
    fresh = workload.episodes - workload.begun

    def at(pick: Callable[[Spread], float], begun: int) -> tuple[float, float, float, float]:
        requests = pick(workload.requests) * fresh + max(pick(workload.requests) - 1, 0) * begun
        prompt, completion = pick(workload.prompt_tokens), pick(workload.completion_tokens)
        one = Usage(prompt_tokens=round(prompt), completion_tokens=round(completion))
        cost = 0.0 if price is None else price.cost(one) * requests
        return requests, prompt * requests, completion * requests, cost

    low = at(lambda spread: spread.low, 0)
    typical = at(lambda spread: spread.typical, 0)
    high = at(lambda spread: spread.high, workload.begun)
    requests, prompts, completions, cost = (
        Spread(low=a, typical=b, high=c) for a, b, c in zip(low, typical, high, strict=True)
    )
    return Estimate(
        model=workload.model,
        requests=requests,
        prompt_tokens=prompts,
        completion_tokens=completions,
        cost=None if price is None else cost,
    )
