"""What goes wrong on purpose, and when.

The fault of a request depends on the seed, on what is asked and on how often that has been asked: not on the order in
which requests arrive. A cut-off reply is a reply: it depends on what is asked alone, so the same question gets the same
answer however often it is asked.
"""

import random
from dataclasses import dataclass, field
from typing import Literal, get_args

Fault = Literal[
    "429",
    "429_silent",
    "500",
    "503",
    "hang",
    "malformed",
    "dropped",
    "truncated",
    "refused_key",
    "unknown_model",
    "too_long",
]
"""429 comes with Retry-After, 429_silent without; hang outlasts the client; malformed is a body that is no JSON;
dropped closes the socket in mid-body; truncated cuts the reply off at the length limit, in the middle of a call."""

FAULTS: tuple[str, ...] = get_args(Fault)


@dataclass
class Faults:
    """Faults to come: first the script, one entry for each request, then by chance."""

    script: list[Fault | None] = field(default_factory=list)
    """Faults of the next requests in order of arrival; None for none."""
    chances: dict[Fault, float] = field(default_factory=dict)
    """Probability of each fault, by its name; together at most 1."""
    seed: int = 0
    most_in_a_row: int | None = None
    """After so many failures the same request is answered; None for no end."""
    retry_after: str = "0.05"
    """Retry-After of a 429: seconds, or an HTTP date."""
    hang_seconds: float = 600.0
    """How long a hanging request is held, unless the client goes before."""

    def __post_init__(self) -> None:
        unknown = sorted({*self.chances, *(f for f in self.script if f)} - set(FAULTS))
        if unknown:
            raise ValueError(f"no such faults: {', '.join(unknown)}; there are {', '.join(FAULTS)}")

    def next(self, digest: str, seen: int) -> Fault | None:
        """Decide what happens to a request that was seen so often before."""
        if self.script:
            return self.script.pop(0)
        cut = self.chances.get("truncated", 0.0)
        if random.Random(f"{self.seed} {digest} cut").random() < cut:
            return self._failure(digest, seen) or "truncated"
        return self._failure(digest, seen)

    def _failure(self, digest: str, seen: int) -> Fault | None:
        if self.most_in_a_row is not None and seen >= self.most_in_a_row:
            return None
        at = random.Random(f"{self.seed} {digest} {seen}").random()
        for fault, chance in self.chances.items():
            if fault == "truncated":
                continue
            if at < chance:
                return fault
            at -= chance
        return None
