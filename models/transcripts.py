"""What an owner, such as an episode, asked and was answered, read back from ledger and cache."""

from collections.abc import Iterator

from agenthard.models.cache import ReplyCache
from agenthard.models.ledger import Attempt, Ledger
from agenthard.models.request import Reply, Request
from agenthard.taxonomy.record import Record


class Exchange(Record):
    """One request and what came of it."""

    digest: str
    """Digest of the request."""
    request: Request | None
    """What was asked; None when the process died before it was kept."""
    reply: Reply | None
    """The answer; None when there is none."""
    attempts: tuple[Attempt, ...]
    """How often it was sent or found in the cache, and what came of each."""


def transcript(owner: str, ledger: Ledger, cache: ReplyCache) -> Iterator[Exchange]:
    """The exchanges of one owner, in the order in which they were first asked for.

    A run that was interrupted and resumed asks for its first requests again and finds them in the cache; each is
    yielded once, with all its attempts.

    Args:
        owner: What the requests were for.
        ledger: Says what was asked and what came of it.
        cache: Holds the words.
    """
    attempts: dict[str, list[Attempt]] = {}
    for attempt in ledger.of_owner(owner):
        attempts.setdefault(attempt.digest, []).append(attempt)
    for digest, rows in attempts.items():
        yield Exchange(digest=digest, request=cache.request(digest), reply=cache.get(digest), attempts=tuple(rows))
