"""Embedders: what turns the text of a task into a vector.

TF-IDF and hashing need no further package; sentence-transformers is an extra; models of providers are asked. Vectors of
models are kept in a file, by the hash of model and text.
"""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agenthard.taxonomy.errors import AgentHardError, MissingExtraError

if TYPE_CHECKING:  # agenthard.models is imported where a model is asked
    from agenthard.models.embeddings import EmbeddingCache, Vector
    from agenthard.models.model_file import ModelFile

_WORD = re.compile(r"\b\w\w+\b")
SENTENCE_TRANSFORMERS = "sentence-transformers"
LEDGER = "ledger.sqlite"
"""File of the requests to models, in the folder of the file that keeps the vectors."""
DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
FORMS = (
    "tfidf, hashing, sentence-transformers, sentence-transformers:MODEL_OR_FOLDER, openai/NAME, google/NAME, "
    "compatible/NAME@BASE_URL, or a model file (YAML)"
)


class EmbedderError(AgentHardError, ValueError):
    """The name of an embedder is not valid; the message says why."""

    code = "AH715"
    remedy = "Choose one of the embedders that the message lists."


class Embedder(Protocol):
    """Anything that turns texts into one vector each."""

    @property
    def name(self) -> str:
        """Name that reports print with the diversity: figures of different embedders are not comparable."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into vectors.

        Args:
            texts: one per task.

        Returns:
            texts × dimensions, a NumPy array or a SciPy sparse matrix; a text without words becomes a row of zeros.
        """


class TfidfEmbedder:
    """Term frequency times inverse document frequency of words, as scikit-learn's defaults compute it.

    scikit-learn itself imports more than a report needs. The weights depend on all texts given: embed the original
    benchmark once, and take the rows of a split from it. Within a row, words are in the order in which they first
    occur, as there: sums of floating-point numbers depend on it.
    """

    name = "tfidf"

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into sparse vectors, one row each (see ``Embedder.embed``)."""
        from scipy.sparse import csr_array

        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        seen = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(counts)))}
        if not seen:
            return csr_array((len(texts), 1), dtype=np.float64)
        column = np.empty(len(seen), dtype=np.int32)
        column[[seen[word] for word in sorted(seen)]] = np.arange(len(seen))
        rows = [sorted((seen[word], count) for word, count in each.items()) for each in counts]
        columns = column[[number for row in rows for number, _ in row]]
        frequencies = np.array([count for row in rows for _, count in row], dtype=np.float64)
        texts_with = np.bincount(columns, minlength=len(seen))
        weights = np.log((len(texts) + 1) / (texts_with + 1.0)) + 1.0
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
        return unit_rows(csr_array((frequencies * weights[columns], columns, starts), (len(texts), len(seen))))


class HashingEmbedder:
    """Counts of words in 2¹⁸ hashed columns: rows do not depend on the other texts (scikit-learn's defaults)."""

    name = "hashing"

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into sparse vectors, one row each (see ``Embedder.embed``)."""
        from scipy.sparse import csr_array
        from sklearn.feature_extraction.text import HashingVectorizer

        features = 2**18
        if not texts:
            return csr_array((0, features), dtype=np.float64)
        return csr_array(HashingVectorizer(n_features=features).transform(texts))


class SentenceTransformerEmbedder:
    """Meaning-based vectors of a sentence-transformers model, the kind the audit paper uses.

    Args:
        model: name or folder of the model.
        cache: file that keeps the vectors; None keeps none. Vectors of a folder are found again only while its files
            stay as they are.

    Raises:
        MissingExtraError: when sentence-transformers is not installed.
    """

    def __init__(self, model: str = DEFAULT_MODEL, cache: Path | None = None) -> None:
        try:
            self._library = import_module("sentence_transformers")
        except ImportError as error:
            raise MissingExtraError("the embedder 'sentence-transformers'", "embed") from error
        self.name = f"{SENTENCE_TRANSFORMERS}:{model}"
        self._model, self._cache = model, cache

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into dense vectors, one row each (see ``Embedder.embed``); the model is loaded where needed."""
        from agenthard.models.embeddings import embedding_digest

        wanted = _distinct(texts)
        key = f"{self.name} {_state(Path(self._model))}"
        digests = {text: embedding_digest(key, text) for text in wanted}
        cache = _opened(self._cache)
        try:
            kept = cache.get(digests.values()) if cache else {}
            found: dict[str, Vector] = {text: kept[digest] for text, digest in digests.items() if digest in kept}
            missing = [text for text in wanted if text not in found]
            if missing:
                model = self._library.SentenceTransformer(self._model)
                made = np.asarray(model.encode(missing, show_progress_bar=False), dtype=np.float64)
                found.update(zip(missing, map(tuple, made.tolist()), strict=True))
                if cache:
                    cache.put((digests[text], found[text]) for text in missing)
        finally:
            if cache:
                cache.close()
        return _rows(texts, found)


class ModelEmbedder:
    """Vectors of a model of a provider: OpenAI, Gemini, or a compatible server.

    Args:
        file: the model with its key, limits and retries.
        cache: file that keeps the vectors; None keeps none. Requests are on the ledger next to it (``LEDGER``).
    """

    def __init__(self, file: "ModelFile", cache: Path | None = None) -> None:
        self.name = file.name
        self._file, self._cache = file, cache

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into dense vectors, one row each (see ``Embedder.embed``).

        Raises:
            ModelError: when the provider does not answer; what arrived before is kept.
        """
        with ThreadPoolExecutor(1) as thread:  # the loop of a notebook or a flow may be running in this one
            return _rows(texts, thread.submit(asyncio.run, self._ask(_distinct(texts))).result())

    async def _ask(self, texts: Sequence[str]) -> "dict[str, Vector]":
        from agenthard.models.embeddings import embed_texts
        from agenthard.models.ledger import Ledger

        cache = _opened(self._cache)
        ledger = None if self._cache is None else Ledger(self._cache.with_name(LEDGER))
        try:
            return await embed_texts(self._file, texts, cache, ledger=ledger)
        finally:
            for each in (cache, ledger):
                if each is not None:
                    each.close()


def embedder(name: str = "tfidf", cache: Path | None = None) -> Embedder:
    """Find an embedder by its name.

    Args:
        name: "tfidf", "hashing", "sentence-transformers", "sentence-transformers:MODEL" (a name or a folder), the full
            name of a model of a provider, or a model file.
        cache: file that keeps the vectors of models; None keeps none.

    Returns:
        The embedder. Nothing is sent before it is used.

    Raises:
        MissingExtraError: when its library is not installed.
        EmbedderError: for an unknown name.
    """
    kind, _, model = name.partition(":")
    if name == "tfidf":
        return TfidfEmbedder()
    if name == "hashing":
        return HashingEmbedder()
    if kind == SENTENCE_TRANSFORMERS:
        return SentenceTransformerEmbedder(model or DEFAULT_MODEL, cache)
    if "/" not in name and not name.endswith((".yaml", ".yml")):
        raise EmbedderError(f"unknown embedder {name!r}: use {FORMS}")
    from agenthard.models.errors import ConfigurationError
    from agenthard.models.model_file import load_model

    try:
        return ModelEmbedder(load_model(name), cache)
    except ConfigurationError as error:
        raise EmbedderError(f"unknown embedder {name!r} ({error}): use {FORMS}") from error


def _opened(path: Path | None) -> "EmbeddingCache | None":
    from agenthard.models.embeddings import EmbeddingCache

    return None if path is None else EmbeddingCache(path)


def unit_rows(vectors: Any) -> Any:
    """Divide each row by its Euclidean norm; rows of zeros stay."""
    if hasattr(vectors, "toarray"):
        scaled = vectors.astype(np.float64)
        squares = type(scaled)((scaled.data**2, scaled.indices, scaled.indptr), scaled.shape)
        norms = np.sqrt(squares @ np.ones(scaled.shape[1]))
        scaled.data /= np.repeat(norms, np.diff(scaled.indptr))
        return scaled
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(norms > 0, norms, 1)[:, None]


def _plain(text: str) -> str:
    """Return text that can be sent: a lone surrogate, which the JSON of a benchmark can hold, becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _distinct(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(_plain(text) for text in texts if text.strip()))


def _rows(texts: Sequence[str], found: "dict[str, Vector]") -> NDArray[np.float64]:
    width = len(next(iter(found.values()), (0.0,)))
    return np.array([found.get(_plain(text), (0.0,) * width) for text in texts], dtype=np.float64).reshape(-1, width)


def _state(folder: Path) -> str:
    """Hash names, sizes and times of the files of a folder; empty for a name."""
    if not folder.is_dir():
        return ""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    facts = [(path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()
