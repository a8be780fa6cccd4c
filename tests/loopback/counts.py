"""What the server did: every request it got, every reply it gave and every token it billed."""

from collections import Counter, defaultdict
from typing import Any


class Counts:
    """Counters; `GET /_/counts` returns them as JSON."""

    def __init__(self) -> None:
        self.received = 0
        """Requests that came, whatever became of them."""
        self.answered = 0
        """Whole replies sent to a client that was there."""
        self.abandoned = 0
        """Requests whose client went before the reply was ready; nothing is billed for them."""
        self.refused = 0
        """Requests answered with an error that is no injected fault: wrong key, unknown model, broken conversation."""
        self.faults: Counter[str] = Counter()
        """Injected faults by name; a truncated reply is also an answered one."""
        self.most_in_flight = 0
        """Requests that were being served at the same time."""
        self.in_flight = 0
        self.seconds = 0.0
        """Time that requests spent here, from their arrival to their answer, added up."""
        self.seen: Counter[str] = Counter()
        self._billed: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._distinct: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._lost: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._paid: set[str] = set()

    def bill(self, model: str, digest: str, usage: dict[str, int]) -> None:
        """Note a reply that was sent whole."""
        self.answered += 1
        self._billed[model].update(requests=1, **usage)
        if digest not in self._paid:
            self._paid.add(digest)
            self._distinct[model].update(requests=1, **usage)

    def lose(self, model: str, usage: dict[str, int]) -> None:
        """Note a reply that was made but reached nobody whole: malformed or dropped."""
        self._lost[model].update(requests=1, **usage)

    def as_dict(self) -> dict[str, Any]:
        return {
            "received": self.received,
            "answered": self.answered,
            "abandoned": self.abandoned,
            "refused": self.refused,
            "faults": dict(sorted(self.faults.items())),
            "most_in_flight": self.most_in_flight,
            "in_flight": self.in_flight,
            "seconds": self.seconds,
            "billed": {model: dict(counts) for model, counts in sorted(self._billed.items())},
            "distinct": {model: dict(counts) for model, counts in sorted(self._distinct.items())},
            "lost": {model: dict(counts) for model, counts in sorted(self._lost.items())},
        }
