"""What an agent may spend on a scenario, and what it has spent."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from agenthard.models.request import Completion, Usage
from agenthard.taxonomy.record import Record

Limit = Literal["turns", "tokens", "money", "hours"]
SECONDS_PER_HOUR = 3600.0


class Limits(Record):
    """Limits; None for none."""

    turns: int | None = Field(default=200, ge=1)
    """Replies of the agent in one attempt."""
    tokens: int | None = Field(default=None, ge=1)
    """Tokens of the agent in the whole scenario, prompts and replies."""
    money: float | None = Field(default=None, gt=0)
    """Cost of the agent in the whole scenario, in the currency of the price table."""
    hours: float | None = Field(default=None, gt=0)
    """Time of the agent in the whole scenario: its requests and its calls."""


class Budget:
    """What is spent so far in a scenario, by a clock that tests may replace."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self.limits, self.clock = limits, clock
        self.turns = 0
        """Replies in this attempt."""
        self.requests = 0
        self.usage = Usage()
        self.cost: float | None = 0.0
        """Cost so far; None once a reply had no price."""
        self.seconds = 0.0
        """Time so far, never more than the limit."""

    def begin_attempt(self) -> None:
        """Begin an attempt: turns are counted from 0 again."""
        self.turns = 0

    def take_turn(self) -> None:
        """Count a reply of the agent."""
        self.turns += 1

    def charge(self, completion: Completion) -> None:
        """Count tokens and cost of a reply. One from the cache was paid once, by a play that was killed."""
        self.requests += max(completion.attempts, 1)
        self.usage += completion.reply.usage
        known = self.cost is not None and completion.cost is not None
        self.cost = (self.cost or 0.0) + (completion.cost or 0.0) if known else None

    def spend(self, seconds: float) -> None:
        """Count time."""
        self.seconds += seconds
        if self.limits.hours is not None:
            self.seconds = min(self.seconds, self.limits.hours * SECONDS_PER_HOUR)

    def seconds_left(self) -> float | None:
        """Return the time that is left; None without a limit."""
        return None if self.limits.hours is None else self.limits.hours * SECONDS_PER_HOUR - self.seconds

    def reached(self) -> Limit | None:
        """Return the limit that is reached; None while the agent may continue."""
        limits = self.limits
        if limits.turns is not None and self.turns >= limits.turns:
            return "turns"
        if limits.tokens is not None and self.usage.prompt_tokens + self.usage.completion_tokens >= limits.tokens:
            return "tokens"
        if limits.money is not None and (self.cost or 0.0) >= limits.money:
            return "money"
        left = self.seconds_left()
        return "hours" if left is not None and left <= 0 else None

    def counts(self) -> dict[str, float]:
        """Return what is spent on a model in the whole scenario, without times; empty before the first request."""
        if not self.requests:
            return {}
        cost = {} if self.cost is None else {"cost": self.cost}
        return {**self.usage.model_dump(), **cost, "requests": self.requests}
