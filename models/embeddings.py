"""Embeddings of texts: asked in batches, kept by the hash of model and text, with the limits and retries of a model.

Each request is on a ledger before it is sent, as those of conversations are.
"""

import asyncio
import hashlib
import json
import random
import time
from array import array
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agenthard.models.budget import Amount, Budget
from agenthard.models.errors import ModelError
from agenthard.models.ledger import Entry, Ledger
from agenthard.models.limits import RateLimiter
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable, load_prices
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import attempt, read
from agenthard.models.request import Usage
from agenthard.models.retry import POSSIBLY_BILLED, retrying
from agenthard.models.storage import Database
from agenthard.models.tokens import BYTES_PER_TOKEN_AT_LEAST

Vector = tuple[float, ...]
SCHEMA = "CREATE TABLE IF NOT EXISTS embeddings (digest TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;"
PURPOSE, OWNER = "embedding", "prompts"
"""Purpose and owner of these requests in a ledger."""
BATCH_TEXTS = 96
"""Texts per request; Gemini takes 100."""
BATCH_CHARACTERS = 200_000
"""Characters per request, since providers also limit its tokens."""
_LOOK_UPS = 500


class EmbeddingCache:
    """Vectors on disk, as 64-bit floats; several processes may share the file."""

    def __init__(self, path: Path | str) -> None:
        """Open or create the file.

        Args:
            path: SQLite file.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, SCHEMA, version=1)

    def get(self, digests: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors there are.

        Raises:
            StorageError: The file cannot be read.
        """
        found: dict[str, Vector] = {}
        wanted = list(digests)
        for start in range(0, len(wanted), _LOOK_UPS):
            some = wanted[start : start + _LOOK_UPS]
            places = ", ".join("?" * len(some))
            query = f"SELECT digest, vector FROM embeddings WHERE digest IN ({places})"
            found.update((digest, tuple(array("d", blob))) for digest, blob in self._database.read(query, some))
        return found

    def put(self, vectors: Iterable[tuple[str, Vector]]) -> None:
        """Store vectors by digest; existing ones are not replaced.

        Raises:
            StorageError: They cannot be written.
        """
        rows = [(digest, array("d", vector).tobytes()) for digest, vector in vectors]
        with self._database.write() as connection:
            connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def embedding_digest(model: str, text: str) -> str:
    """Return the key of a vector: the hash of the model's full name and the text."""
    return hashlib.sha256(json.dumps([model, text]).encode("ascii")).hexdigest()


class Embedded(NamedTuple):
    """What a provider answers."""

    vectors: list[Vector]
    """One per text, in order."""
    tokens: int | None
    """Tokens of the texts; None when the provider does not say."""


class EmbeddingProvider(Protocol):
    """A service that turns texts into vectors. It never retries."""

    async def embed(self, texts: Sequence[str], timeout: float) -> Embedded:
        """Send one request.

        Args:
            texts: none is empty.
            timeout: Timeout in seconds.

        Returns:
            One vector per text, in order, and the tokens.

        Raises:
            ModelError: The request failed.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class OpenAIEmbeddings:
    """OpenAI's interface, which compatible servers have too."""

    def __init__(self, destination: Destination) -> None:
        """Create the client; nothing is sent."""
        from agenthard.models.providers.openai_sdk import OpenAISDK

        self._to = destination
        self._sdk = OpenAISDK(destination)

    async def embed(self, texts: Sequence[str], timeout: float) -> Embedded:
        """Send one request (see `EmbeddingProvider.embed`)."""
        body = {"model": self._to.name.name, "input": list(texts), "encoding_format": "float"}
        answer = await self._sdk.post("embeddings", body, {}, timeout)

        def embedded() -> Embedded:
            ordered = sorted(answer["data"], key=lambda item: item["index"])
            used = (answer.get("usage") or {}).get("prompt_tokens")
            vectors = _vectors([item["embedding"] for item in ordered], len(texts))
            return Embedded(vectors, used if isinstance(used, int) and used >= 0 else None)

        return read(embedded, self._to)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()


class GoogleEmbeddings:
    """Gemini's interface."""

    def __init__(self, destination: Destination) -> None:
        """Create the client; nothing is sent."""
        from agenthard.models.providers.google import google_sdk

        self._to = destination
        self._sdk, self._http = google_sdk(destination)

    async def embed(self, texts: Sequence[str], timeout: float) -> Embedded:
        """Send one request (see `EmbeddingProvider.embed`)."""
        contents: Any = list(texts)

        async def send() -> Any:
            return await self._sdk.aio.models.embed_content(model=self._to.name.name, contents=contents)

        answer = await attempt(send, timeout, self._to)

        def embedded() -> Embedded:
            counts = [item.statistics.token_count for item in answer.embeddings if item.statistics]
            stated = [int(count) for count in counts if count is not None]
            vectors = _vectors([item.values for item in answer.embeddings], len(texts))
            return Embedded(vectors, sum(stated) if len(stated) == len(vectors) else None)

        return read(embedded, self._to)

    async def close(self) -> None:
        """Close the connections."""
        from agenthard.models.providers.google import close_google_sdk

        await close_google_sdk(self._sdk, self._http)


def embeddings_of(file: ModelFile) -> EmbeddingProvider:
    """Create the provider of a model.

    Args:
        file: The model file.

    Raises:
        MissingKeyError: The environment holds no key for it; nothing was sent.
    """
    destination = Destination.of(file)
    return GoogleEmbeddings(destination) if file.parsed_name.provider == "google" else OpenAIEmbeddings(destination)


async def embed_texts(
    file: ModelFile,
    texts: Sequence[str],
    cache: EmbeddingCache | None = None,
    *,
    ledger: Ledger | None = None,
    prices: PriceTable | None = None,
    provider_for: Callable[[ModelFile], EmbeddingProvider] = embeddings_of,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> dict[str, Vector]:
    """Turn texts into vectors; what the cache holds is not asked again.

    Args:
        file: The model with its limits and retries.
        texts: None is empty; equal ones are sent once.
        cache: Vectors of earlier calls; each batch is stored when it arrives.
        ledger: Records each attempt before it is sent; None records none.
        prices: Prices of tokens; the list prices by default. The price in a model file takes precedence.
        provider_for: Creates the provider; not called when the cache holds everything.
        sleep: Waits for a number of seconds.

    Returns:
        Text → vector.

    Raises:
        ModelError: A request failed after all retries; what arrived before is in the cache.
    """
    digests = {text: embedding_digest(file.name, text) for text in dict.fromkeys(texts)}
    kept = cache.get(digests.values()) if cache else {}
    found = {text: kept[digest] for text, digest in digests.items() if digest in kept}
    missing = [text for text in digests if text not in found]
    if not missing:
        return found
    provider, limiter = provider_for(file), RateLimiter(file.limits, time.monotonic, sleep)
    attempts = retrying(file.retries, random.Random(0), sleep, lambda: 0.0)
    account = _Account(file, ledger, prices)

    async def ask(batch: Sequence[str]) -> None:
        most = sum(len(text.encode()) for text in batch) // BYTES_PER_TOKEN_AT_LEAST + len(batch)

        async def send() -> None:
            async with limiter.slot(most):
                row = account.send([digests[text] for text in batch], most)
                try:
                    answer = await provider.embed(batch, file.timeout)
                except BaseException as error:
                    account.failed(row, error)
                    raise
                # The vectors first: a process that dies in between loses nothing.
                try:
                    if cache:
                        cache.put((digests[text], vector) for text, vector in zip(batch, answer.vectors, strict=True))
                finally:
                    account.answered(row, answer.tokens, most)
                found.update(zip(batch, answer.vectors, strict=True))

        await attempts.copy()(send)

    try:
        async with asyncio.TaskGroup() as group:
            for batch in _batches(missing):
                group.create_task(ask(batch))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await provider.close()
    return found


class _Account:
    """What requests for vectors write on a ledger, if there is one."""

    def __init__(self, file: ModelFile, ledger: Ledger | None, prices: PriceTable | None) -> None:
        self._model, self._ledger = file.name, ledger
        self._prices = (prices or load_prices()).after([file.price] if file.price else [])

    def send(self, digests: Sequence[str], most: int) -> int | None:
        """Record a request that is about to be sent, with the most tokens that it can have."""
        if self._ledger is None:
            return None
        entry = Entry(self._model, PURPOSE, OWNER, hashlib.sha256("".join(digests).encode()).hexdigest())
        upper = Amount(1, most, self._prices.cost(self._model, Usage(prompt_tokens=most)) or 0.0)
        return self._ledger.send(entry, upper, Budget())

    def failed(self, row: int | None, error: BaseException) -> None:
        """Close its row without an answer."""
        if self._ledger is not None and row is not None:
            maybe_billed = not isinstance(error, ModelError) or isinstance(error, POSSIBLY_BILLED)
            self._ledger.failed(row, type(error).__name__, maybe_billed=maybe_billed)

    def answered(self, row: int | None, tokens: int | None, most: int) -> None:
        """Close its row with the tokens that the provider states, or the most there can be."""
        if self._ledger is not None and row is not None:
            usage = Usage(prompt_tokens=most if tokens is None else tokens)
            self._ledger.answered(row, usage, self._prices.cost(self._model, usage), stated=tokens is not None)


def _batches(texts: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    characters = 0
    for text in texts:
        if batches[-1] and (len(batches[-1]) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            batches.append([])
            characters = 0
        batches[-1].append(text)
        characters += len(text)
    return batches


def _vectors(answer: Sequence[Sequence[float]], texts: int) -> list[Vector]:
    vectors: list[Vector] = [tuple(float(value) for value in vector) for vector in answer]
    if len(vectors) != texts or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError(f"expected {texts} vectors of one length, got lengths {[len(v) for v in vectors][:5]}")
    return vectors
