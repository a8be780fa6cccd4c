"""Embeddings of texts: asked in batches, kept by the hash of model and text, with the limits and retries of a model."""

import asyncio
import hashlib
import json
import random
import time
from array import array
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from agenthard.models.limits import RateLimiter
from agenthard.models.model_file import ModelFile
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import attempt, read
from agenthard.models.retry import retrying
from agenthard.models.storage import Database
from agenthard.models.tokens import BYTES_PER_TOKEN_AT_LEAST

Vector = tuple[float, ...]
SCHEMA = "CREATE TABLE IF NOT EXISTS embeddings (digest TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;"
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


class EmbeddingProvider(Protocol):
    """A service that turns texts into vectors. It never retries."""

    async def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        """Send one request.

        Args:
            texts: none is empty.
            timeout: Timeout in seconds.

        Returns:
            One vector per text, in order.

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

    async def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        """Send one request (see `EmbeddingProvider.embed`)."""
        body = {"model": self._to.name.name, "input": list(texts), "encoding_format": "float"}
        answer = await self._sdk.post("embeddings", body, {}, timeout)

        def vectors() -> list[Vector]:
            ordered = sorted(answer["data"], key=lambda item: item["index"])
            return _vectors([item["embedding"] for item in ordered], len(texts))

        return read(vectors, self._to)

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

    async def embed(self, texts: Sequence[str], timeout: float) -> list[Vector]:
        """Send one request (see `EmbeddingProvider.embed`)."""
        contents: Any = list(texts)

        async def send() -> Any:
            return await self._sdk.aio.models.embed_content(model=self._to.name.name, contents=contents)

        answer = await attempt(send, timeout, self._to)
        return read(lambda: _vectors([item.values for item in answer.embeddings], len(texts)), self._to)

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
    provider_for: Callable[[ModelFile], EmbeddingProvider] = embeddings_of,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> dict[str, Vector]:
    """Turn texts into vectors; what the cache holds is not asked again.

    Args:
        file: The model with its limits and retries.
        texts: None is empty; equal ones are sent once.
        cache: Vectors of earlier calls; each batch is stored when it arrives.
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

    async def ask(batch: Sequence[str]) -> None:
        async def send() -> list[Vector]:
            async with limiter.slot(sum(len(text.encode()) for text in batch) // BYTES_PER_TOKEN_AT_LEAST):
                return await provider.embed(batch, file.timeout)

        vectors: list[Vector] = await attempts.copy()(send)
        if cache:
            cache.put((digests[text], vector) for text, vector in zip(batch, vectors, strict=True))
        found.update(zip(batch, vectors, strict=True))

    try:
        async with asyncio.TaskGroup() as group:
            for batch in _batches(missing):
                group.create_task(ask(batch))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await provider.close()
    return found


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
