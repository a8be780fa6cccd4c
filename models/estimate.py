"""What a run will take, before anything is sent: requests, tokens and money, each as low, typical and high."""

from collections.abc import Callable

from pydantic import Field, model_validator

from agenthard.models.prices import PriceTable
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record


class Spread(Record):
    """A quantity that is not known yet."""

    low: float = Field(ge=0)
    """As little as can be expected."""
    typical: float = Field(ge=0)
    """What is likely."""
    high: float = Field(ge=0)
    """As much as can be expected."""

    @model_validator(mode="after")
    def _in_order(self) -> "Spread":
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"low {self.low}, typical {self.typical} and high {self.high} are not in order")
        return self

    def __add__(self, other: "Spread") -> "Spread":
        """Adds low to low, typical to typical and high to high."""
        return Spread(low=self.low + other.low, typical=self.typical + other.typical, high=self.high + other.high)


class Workload(Record):
    """Episodes that one model is to play for one purpose."""

    model: str
    """Full name of the model."""
    episodes: int = Field(ge=0)
    """How many."""
    begun: int = Field(default=0, ge=0)
    """Those whose first request has its reply in the cache already."""
    requests: Spread
    """Requests per episode."""
    prompt_tokens: Spread
    """Tokens of a prompt, on average over the requests of an episode."""
    completion_tokens: Spread
    """Tokens of a reply, thoughts included."""

    @model_validator(mode="after")
    def _begun_are_episodes(self) -> "Workload":
        if self.begun > self.episodes:
            raise ValueError(f"{self.begun} episodes begun are more than {self.episodes} in all")
        return self


class Estimate(Record):
    """What a workload will take."""

    model: str
    """Full name of the model."""
    requests: Spread
    """Requests to send; those that fail and are repeated are not foreseen."""
    prompt_tokens: Spread
    """Tokens of all prompts."""
    completion_tokens: Spread
    """Tokens of all replies."""
    cost: Spread | None
    """Money, without discounts for prompts that the provider has cached; None when the model has no price."""


def estimate(workload: Workload, prices: PriceTable) -> Estimate:
    """What a workload will take, net of the cache.

    Of an episode that has begun, low and typical suppose that all of its replies are in the cache, high that only the
    first is. Low is every episode at its shortest, high every episode at its longest: wider than chance would make it,
    for the lengths of episodes by one model go together.

    Args:
        workload: What is to be done.
        prices: What it costs.
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
