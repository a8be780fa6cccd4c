"""Replies recorded once and played back without a network: for tests and demos.

A cassette is a JSON Lines file: one attempt a line, with the request in full and its reply or error. It holds no key,
for requests hold none. Conversations stand together and in their order, whatever the order in which replies arrived.
"""

import json
from pathlib import Path

from pydantic import ValidationError

import agenthard.models.errors
from agenthard.models.errors import ConfigurationError, ModelError, NotRecordedError, StorageError
from agenthard.models.provider import Provider
from agenthard.models.request import Reply, Request
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record


class Failure(Record):
    """An error instead of a reply."""

    error: str
    """Name of a class in agenthard.models.errors."""
    message: str
    """What it said."""
    retry_after: float | None = None
    """Seconds to wait, where the provider said so."""


class Take(Record):
    """One attempt at a request."""

    request: Request
    """What was asked."""
    outcome: Reply | Failure
    """What came of it."""


class Recorder:
    """Passes requests on to a provider and writes down what comes back."""

    def __init__(self, provider: Provider, path: Path) -> None:
        """Add to a cassette, or begin one.

        Args:
            provider: Answers.
            path: The cassette; each attempt is appended at once, and `close` puts them in order.

        Raises:
            ConfigurationError: The file exists and is no cassette.
        """
        self._provider, self._path = provider, path
        if path.exists():
            read_cassette(path)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send the request once; see `agenthard.models.provider.Provider`."""
        try:
            reply = await self._provider.complete(request, timeout)
        except ModelError as error:
            retry_after = getattr(error, "retry_after", None)
            failure = Failure(error=type(error).__name__, message=str(error), retry_after=retry_after)
            self._append(Take(request=request, outcome=failure))
            raise
        self._append(Take(request=request, outcome=reply))
        return reply

    async def close(self) -> None:
        """Close the provider and put the cassette in order."""
        await self._provider.close()
        if self._path.exists():
            takes = sorted(read_cassette(self._path), key=lambda take: _place(take.request))
            try:
                write_text(self._path, "".join(map(_line, takes)))
            except OSError as error:
                raise StorageError(f"cannot write the cassette {self._path}: {error}") from error

    def _append(self, take: Take) -> None:
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(take))
        except OSError as error:
            raise StorageError(f"cannot write the cassette {self._path}: {error}") from error


class Player:
    """Answers from a cassette: attempts at one request in their order, the last one again and again."""

    def __init__(self, path: Path) -> None:
        """Read a cassette.

        Args:
            path: The file.

        Raises:
            ConfigurationError: It cannot be read or is no cassette.
        """
        self._path = path
        self._requests: list[Request] = []
        self._outcomes: dict[str, list[Reply | Failure]] = {}
        for take in read_cassette(path):
            self._requests.append(take.request)
            self._outcomes.setdefault(take.request.digest, []).append(take.outcome)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Answer as recorded; see `agenthard.models.provider.Provider`.

        Raises:
            NotRecordedError: The cassette has no such request; the message names the first difference.
        """
        outcomes = self._outcomes.get(request.digest)
        if outcomes is None:
            raise NotRecordedError(
                f"{self._path} has no answer to this request to {request.model}: {self._difference(request)}"
            )
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        if isinstance(outcome, Reply):
            return outcome
        raise _error(outcome)

    async def close(self) -> None:
        """Nothing is open."""

    def _difference(self, request: Request) -> str:
        """Where the request first differs from the recorded one that it goes along with for longest."""
        asked, best = _leaves(request), (-1, "it holds no request at all")
        for recorded in self._requests:
            known = _leaves(recorded)
            same = next((n for n, (a, b) in enumerate(zip(asked, known, strict=False)) if a != b), None)
            shared = min(len(asked), len(known)) if same is None else same
            if shared > best[0]:
                best = (shared, f"{_at(asked, shared)}, where the nearest recorded one has {_at(known, shared)}")
        return f"{best[1]}. Record it again"


def read_cassette(path: Path) -> list[Take]:
    """The attempts in a cassette, in their order.

    Raises:
        ConfigurationError: It cannot be read or is no cassette.
    """
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the cassette {path}: {error}") from error
    takes = []
    for number, line in enumerate(lines if lines != [""] else [], start=1):
        try:
            take = Take.model_validate_json(line)
            if isinstance(take.outcome, Failure):
                _error(take.outcome)
        except (ValidationError, ValueError) as error:
            raise ConfigurationError(f"{path}, line {number} is no attempt of a cassette: {error}") from error
        takes.append(take)
    return takes


def _line(take: Take) -> str:
    return json.dumps(take.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"


def _error(failure: Failure) -> ModelError:
    kind = getattr(agenthard.models.errors, failure.error, None)
    if kind is None:  # recorded before every name of an error ended in Error
        kind = getattr(agenthard.models.errors, f"{failure.error}Error", None)
    if not (isinstance(kind, type) and issubclass(kind, ModelError)):
        raise ValueError(f"agenthard.models.errors has no {failure.error}")
    if failure.retry_after is None:
        return kind(failure.message)
    return kind(failure.message, failure.retry_after)


def _place(request: Request) -> tuple[str, int, list[str]]:
    """Sorts by model and sample, then a conversation by its messages, so that it comes before its continuation."""
    return request.model, request.sample, [message.model_dump_json() for message in request.messages]


def _leaves(request: Request) -> list[tuple[str, object]]:
    """All values of a request with their JSON Pointers: what the model is told first, then settings and tools."""
    found: list[tuple[str, object]] = []

    def walk(pointer: str, value: object) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                walk(f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}", inner)
        elif isinstance(value, list) and value:
            for index, inner in enumerate(value):
                walk(f"{pointer}/{index}", inner)
        else:
            found.append((pointer, value))

    walk("", request.model_dump(mode="json"))
    return found


def _at(leaves: list[tuple[str, object]], place: int) -> str:
    if place >= len(leaves):
        return "its end"
    pointer, value = leaves[place]
    text = json.dumps(value, ensure_ascii=False)
    return f"{pointer} = {text if len(text) <= 200 else text[:200] + '…'}"
