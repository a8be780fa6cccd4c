"""Answers of a batch, line by line, into the reply cache and onto the books."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.models.batch.jobs import JobStore
from agenthard.models.batch.wire import custom_id_of, read_line
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import MalformedReplyError, ModelError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Usage
from agenthard.taxonomy.record import Record


class Intake(Record):
    """What came back."""

    answered: int = 0
    """Requests whose replies are in the cache now."""
    errors: dict[str, int] = Field(default_factory=dict)
    """Requests that ended otherwise, by the name of the error; NotAnswered: the batch ended without them."""
    unknown: int = 0
    """Lines about something that was not asked in the batch."""
    repeated: int = 0
    """Lines about a request that had its answer already."""
    unreadable: tuple[str, ...] = ()
    """Lines that are no JSON: file and line number."""
    waiting: int = 0
    """Batches that are not over yet."""

    def __add__(self, other: "Intake") -> "Intake":
        """Adds up two batches."""
        return Intake(
            answered=self.answered + other.answered,
            errors=dict(sorted((Counter(self.errors) + Counter(other.errors)).items())),
            unknown=self.unknown + other.unknown,
            repeated=self.repeated + other.repeated,
            unreadable=self.unreadable + other.unreadable,
            waiting=self.waiting + other.waiting,
        )


def take_in(
    answers: Path,
    file: ModelFile,
    tag: str,
    jobs: JobStore,
    cache: ReplyCache,
    ledger: Ledger,
    cost: Callable[[Usage], float | None],
) -> Intake:
    """Read the answer file of a batch; doing it again after kill -9 changes nothing that is done.

    Args:
        answers: The file.
        file: The model.
        tag: The batch.
        jobs: Where outcomes go.
        cache: Where replies go.
        ledger: Where costs go.
        cost: What a reply in a batch costs; None without a price.
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
            line = _json(text)
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
                assert request is not None, "the desk keeps every request before it hands it over"
                try:
                    reply = read_line(file, request, line)
                except ModelError as error:
                    close(digest, type(error).__name__, isinstance(error, MalformedReplyError))
                    continue
                cache.put(request, digest, reply)
                if digest in rows and rows[digest].state == "sent":
                    ledger.answered(rows[digest].id, reply.usage, cost(reply.usage), stated=reply.usage_stated)
                jobs.end(tag, [(digest, "answered")])
                count["answered"] += 1
    for digest, outcome in members.items():
        if outcome is None and digest not in seen:
            close(digest, "NotAnswered", maybe_billed=False)
    return Intake(
        answered=count["answered"],
        errors=dict(sorted(errors.items())),
        unknown=count["unknown"],
        repeated=count["repeated"],
        unreadable=tuple(unreadable),
    )


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
