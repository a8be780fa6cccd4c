"""Embedders that are models: local ones and those of providers, with a cache, behind the interface of TF-IDF."""

import builtins
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agenthard.audit.statistics import EmbedderError, Estimate, ModelEmbedder, PromptSpace, embedder
from agenthard.audit.statistics.embedders import LEDGER
from agenthard.models.ledger import Ledger
from tests.loopback import Loopback
from tests.loopback.embeddings import vector
from tests.models.providers.talking import model_file

TEXTS = ["lend the book", "lend the book", "return it", " ", "book \ud800"]


@pytest.mark.parametrize("api", ["chat", "gemini"])
def test_a_provider_embeds_texts_and_is_asked_once(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    name, cache = model_file(api, loopback, "small").name, tmp_path / "vectors.sqlite"
    for _ in range(2):
        found = embedder(name, cache).embed(TEXTS)
        assert found[:3].tolist() == [vector(text) for text in TEXTS[:3]]
        assert not found[3].any() and found[4].tolist() == vector("book \\ud800")
    assert loopback.counts["received"] == 1
    ledger = Ledger(tmp_path / LEDGER)
    assert [(row.model, row.purpose, row.answered) for row in ledger.totals()] == [(name, "embedding", 1)]
    distance = PromptSpace(TEXTS, name, cache).pairwise(np.arange(3))
    a, b = np.array(vector(TEXTS[0])), np.array(vector(TEXTS[2]))
    # two equal prompts and one other: (0 + 2 · (1 − cos)) / 3
    assert isinstance(distance, Estimate)
    assert distance.value == pytest.approx(2 / 3 * (1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)))


async def test_a_provider_is_asked_where_a_loop_runs_already(loopback: Loopback, keys: str) -> None:
    assert embedder(model_file("chat", loopback).name).embed(["a"]).tolist() == [vector("a")]


def test_a_model_file_names_an_embedder(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("name: openai/text-embedding-3-small\nlimits: {in_flight: 2}\n", encoding="utf-8")
    found = embedder(str(path))
    assert isinstance(found, ModelEmbedder) and found.name == "openai/text-embedding-3-small"


@pytest.mark.parametrize("name", ["word2vec", "nobody/model", "compatible/model"])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(EmbedderError, match=r"unknown embedder .*use tfidf, hashing, sentence-transformers"):
        embedder(name)


def test_a_local_model_is_loaded_once_for_texts_that_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loaded: list[str] = []

    class Model:
        def __init__(self, name: str) -> None:
            loaded.append(name)

        def encode(self, texts: list[str], show_progress_bar: bool) -> Any:
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    library = type(builtins)("sentence_transformers")
    library.SentenceTransformer = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    folder, cache = tmp_path / "model", tmp_path / "vectors.sqlite"
    folder.mkdir()
    (folder / "weights").write_text("one", encoding="utf-8")
    name = f"sentence-transformers:{folder}"
    for _ in range(2):
        assert embedder(name, cache).embed(["abc", " "]).tolist() == [[3, 1], [0, 0]]
    assert len(loaded) == 1
    (folder / "weights").write_text("other", encoding="utf-8")
    embedder(name, cache).embed(["abc"])
    assert len(loaded) == 2, "another model in the folder has other vectors"


def test_the_plane_is_a_principal_component_analysis() -> None:
    texts = [f"lend book{i % 3} to member{i % 5} on day{i % 7}" for i in range(40)] + [""]
    found = PromptSpace(texts).plane()
    units = embedder().embed(texts).toarray()[:40]
    centred = units - units.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    assert np.abs(found[:40]) == pytest.approx(np.abs(left[:, :2] * sizes[:2]), abs=1e-9)
    assert found[40].tolist() == [0, 0]
    assert (found[np.abs(found).argmax(axis=0), [0, 1]] > 0).all()
    assert (PromptSpace(texts).plane() == found).all()
    assert not PromptSpace(["a b", "c d"]).plane().any()
