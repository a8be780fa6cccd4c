"""Collect the answers of a batch, line by line, into the reply cache and the ledger."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.models.batch.jobs import JobStore
from agenthard.models.batch.wire import custom_id_of, read_line
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import MalformedReplyError, ModelError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable
from agenthard.taxonomy.record import Record


class Collected(Record):
    """The answers that one call collected."""

    answered: int = 0
    """Requests whose replies are now in the cache."""
    errors: dict[str, int] = Field(default_factory=dict)
    """Requests without a reply, by the name of the error; NotAnswered: the batch ended without them."""
    unknown: int = 0
    """Lines with an id that is not in the batch."""
    repeated: int = 0
    """Further lines with an id that occurred before."""
    unreadable: tuple[str, ...] = ()
    """Lines that are not valid JSON: file and line number."""
    waiting: int = 0
    """Batches that are still running."""

    def __add__(self, other: "Collected") -> "Collected":
        """Adds up two batches."""
        return Collected(
            answered=self.answered + other.answered,
            errors=dict(sorted((Counter(self.errors) + Counter(other.errors)).items())),
            unknown=self.unknown + other.unknown,
            repeated=self.repeated + other.repeated,
            unreadable=self.unreadable + other.unreadable,
            waiting=self.waiting + other.waiting,
        )


def collect_answers(
    answers: Path,
    file: ModelFile,
    tag: str,
    jobs: JobStore,
    cache: ReplyCache,
    ledger: Ledger,
    prices: PriceTable,
) -> Collected:
    """Read the answer file of a batch. A second call after kill -9 continues where the first one ended.

    Args:
        answers: The file.
        file: The model.
        tag: The batch.
        jobs: Records the outcomes.
        cache: Stores the replies.
        ledger: Records the costs.
        prices: Prices of replies.
    """
    members = jobs.members(tag)
    rows = {row.digest: row for row in ledger.of_owner(tag)}
    unreadable, count, errors = [], Counter[str](), Counter[str]()
    seen: set[str] = set()

    def close(digest: str, outcome: str, maybe_billed: bool) -> None:
        errors[outcome] += 1
        if digest in rows and rows[digest].state == "sent":
            ledger.failed(rows[digest].id, outcome, maybe_billed=maybe_billed)
        jobs.end(tag, [(digest, outcome)])

    with answers.open("rb") as stream:
        for number, text in enumerate(stream, start=1):
            if not text.strip():
                continue
            line = _parse(text)
            digest = custom_id_of(line)
            if line is None:
                unreadable.append(f"{answers.name}, line {number}")
            elif digest is None or digest not in members:
                count["unknown"] += 1
            elif digest in seen:
                count["repeated"] += 1
            else:
                seen.add(digest)
                if members[digest] is not None:
                    continue
                request = cache.request(digest)
                assert request is not None, "the client stores every request before it submits it"
                try:
                    reply = read_line(file, request, line)
                except ModelError as error:
                    close(digest, type(error).__name__, isinstance(error, MalformedReplyError))
                    continue
                cache.put(request, digest, reply)
                if digest in rows and rows[digest].state == "sent":
                    cost = prices.batch_cost(file.name, reply.usage)
                    ledger.answered(rows[digest].id, reply.usage, cost, stated=reply.usage_stated)
                jobs.end(tag, [(digest, "answered")])
                count["answered"] += 1
    for digest, outcome in members.items():
        if outcome is None and digest not in seen:
            close(digest, "NotAnswered", maybe_billed=False)
    return Collected(
        answered=count["answered"],
        errors=dict(sorted(errors.items())),
        unknown=count["unknown"],
        repeated=count["repeated"],
        unreadable=tuple(unreadable),
    )


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
