"""Texts to vectors, for diversity: TF-IDF and hashing out of the box, sentence-transformers as an extra."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from agenthard.taxonomy.errors import MissingExtraError


class Embedder(Protocol):
    """Anything that turns texts into one vector each."""

    @property
    def name(self) -> str:
        """Name that reports print beside the diversity, because figures of different embedders do not compare."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into vectors.

        Args:
            texts: one per task.

        Returns:
            texts × dimensions, a NumPy array or a SciPy sparse matrix; a text without words becomes a row of zeros.
        """


class TfidfEmbedder:
    """Term frequency times inverse document frequency of words (scikit-learn's defaults).

    The weights depend on all texts given: embed the original benchmark once, and take the rows of a split from it.
    """

    name = "tfidf"

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into sparse vectors, one row each (see ``Embedder.embed``)."""
        from scipy.sparse import csr_array
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer()
        words = vectorizer.build_analyzer()
        if not any(words(text) for text in texts):
            return csr_array((len(texts), 1), dtype=np.float64)
        return csr_array(vectorizer.fit_transform(texts))


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

    Raises:
        MissingExtraError: when sentence-transformers is not installed.
    """

    def __init__(self, model: str = "sentence-transformers/all-MiniLM-L6-v2") -> None:
        try:
            library = import_module("sentence_transformers")
        except ImportError as error:
            raise MissingExtraError("the embedder 'sentence-transformers'", "embed") from error
        self.name = f"sentence-transformers:{model}"
        self._model = library.SentenceTransformer(model)

    def embed(self, texts: Sequence[str]) -> Any:
        """Turn texts into dense vectors, one row each (see ``Embedder.embed``)."""
        vectors = np.asarray(self._model.encode(list(texts), show_progress_bar=False))
        return vectors * np.array([bool(text.strip()) for text in texts], dtype=vectors.dtype)[:, None]


def embedder(name: str = "tfidf") -> Embedder:
    """Find an embedder by its name.

    Args:
        name: "tfidf", "hashing", "sentence-transformers", or "sentence-transformers:MODEL".

    Returns:
        The embedder.

    Raises:
        MissingExtraError: when its library is not installed.
        ValueError: for an unknown name.
    """
    kind, _, model = name.partition(":")
    if name == "tfidf":
        return TfidfEmbedder()
    if name == "hashing":
        return HashingEmbedder()
    if kind == "sentence-transformers":
        return SentenceTransformerEmbedder(model) if model else SentenceTransformerEmbedder()
    raise ValueError(
        f"unknown embedder {name!r}: use tfidf, hashing, sentence-transformers or sentence-transformers:MODEL"
    )
