"""Record replies once and play them back without a network: for tests and demos.

A cassette is a JSON Lines file with one attempt per line: the full request, and its reply or error. It contains no key,
since requests contain none. Conversations are sorted, whatever order the replies arrived in.
"""

import json
from pathlib import Path

from pydantic import ValidationError

import agenthard.models.errors
from agenthard.models.errors import ConfigurationError, ModelError, NotRecordedError, StorageError
from agenthard.models.request import Provider, Reply, Request
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.record import Record


class Failure(Record):
    """An error instead of a reply."""

    error: str
    """Name of a class in agenthard.models.errors."""
    message: str
    """Message of the error."""
    retry_after: float | None = None
    """Seconds to wait, if the provider says so."""


class Recording(Record):
    """One attempt at a request."""

    request: Request
    """The request."""
    outcome: Reply | Failure
    """The reply, or the error."""


class Recorder:
    """Passes requests on to a provider and records the outcomes."""

    def __init__(self, provider: Provider, path: Path) -> None:
        """Append to a cassette, or create one.

        Args:
            provider: The provider that answers.
            path: The cassette; each attempt is appended at once, and `close` sorts them.

        Raises:
            ConfigurationError: The file exists and is not a cassette.
        """
        self._provider, self._path = provider, path
        if path.exists():
            read_cassette(path)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Send the request once (agenthard.models.request.Provider)."""
        try:
            reply = await self._provider.complete(request, timeout)
        except ModelError as error:
            retry_after = getattr(error, "retry_after", None)
            failure = Failure(error=type(error).__name__, message=str(error), retry_after=retry_after)
            self._append(Recording(request=request, outcome=failure))
            raise
        self._append(Recording(request=request, outcome=reply))
        return reply

    async def close(self) -> None:
        """Close the provider and sort the cassette."""
        await self._provider.close()
        if self._path.exists():
            recordings = sorted(read_cassette(self._path), key=lambda recording: _place(recording.request))
            try:
                write_text(self._path, "".join(map(_line, recordings)))
            except OSError as error:
                raise StorageError(f"cannot write the cassette {self._path}: {error}") from error

    def _append(self, recording: Recording) -> None:
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(recording))
        except OSError as error:
            raise StorageError(f"cannot write the cassette {self._path}: {error}") from error


class Player:
    """Answers from a cassette: the attempts at one request in their order, then the last one repeatedly."""

    def __init__(self, path: Path) -> None:
        """Read a cassette.

        Args:
            path: The file.

        Raises:
            ConfigurationError: It cannot be read, or is not a cassette.
        """
        self._path = path
        self._requests: list[Request] = []
        self._outcomes: dict[str, list[Reply | Failure]] = {}
        for recording in read_cassette(path):
            self._requests.append(recording.request)
            self._outcomes.setdefault(recording.request.digest, []).append(recording.outcome)

    async def complete(self, request: Request, timeout: float) -> Reply:
        """Answer as recorded (agenthard.models.request.Provider).

        Raises:
            NotRecordedError: The cassette does not contain this request; the message names the first difference.
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
        """Do nothing: no connection is open."""

    def _difference(self, request: Request) -> str:
        """Describe where the request first differs from the most similar recorded one."""
        asked, best = _leaves(request), (-1, "it contains no request")
        for recorded in self._requests:
            known = _leaves(recorded)
            same = next((n for n, (a, b) in enumerate(zip(asked, known, strict=False)) if a != b), None)
            shared = min(len(asked), len(known)) if same is None else same
            if shared > best[0]:
                best = (
                    shared,
                    f"{_at(asked, shared)}, where the most similar recorded request has {_at(known, shared)}",
                )
        return f"{best[1]}. Record it again"


def read_cassette(path: Path) -> list[Recording]:
    """Read the attempts in a cassette, in their order.

    Raises:
        ConfigurationError: It cannot be read, or is not a cassette.
    """
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the cassette {path}: {error}") from error
    recordings = []
    for number, line in enumerate(lines if lines != [""] else [], start=1):
        try:
            recording = Recording.model_validate_json(line)
            if isinstance(recording.outcome, Failure):
                _error(recording.outcome)
        except (ValidationError, ValueError) as error:
            raise ConfigurationError(f"{path}, line {number}: not a recorded attempt: {error}") from error
        recordings.append(recording)
    return recordings


def _line(recording: Recording) -> str:
    return json.dumps(recording.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"


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
    """Sort key: model, sample, then the messages, so that a conversation comes before its continuation."""
    return request.model, request.sample, [message.model_dump_json() for message in request.messages]


def _leaves(request: Request) -> list[tuple[str, object]]:
    """Return all values of a request with their JSON Pointers: the messages first, then settings and tools."""
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
