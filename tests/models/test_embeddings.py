"""Embeddings over HTTP, in both protocols: batches, order, retries, and what the cache spares."""

from pathlib import Path

import pytest

from agenthard.models.embeddings import BATCH_TEXTS, EmbeddingCache, embed_texts, embedding_digest
from agenthard.models.errors import MissingKeyError, ServerError, WrongKeyError
from agenthard.models.ledger import Ledger
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import Price
from agenthard.models.retry import RetryPolicy
from tests.loopback import Faults, Loopback
from tests.loopback.embeddings import vector
from tests.models.providers.talking import model_file

APIS = ("chat", "gemini")
QUICK = RetryPolicy(first_wait=0.01)


@pytest.mark.parametrize("api", APIS)
async def test_every_text_gets_its_own_vector(api: str, loopback: Loopback, keys: str) -> None:
    texts = [f"lend book {n}" for n in range(2 * BATCH_TEXTS + 5)]
    found = await embed_texts(model_file(api, loopback, "small"), [*texts, texts[0]])
    assert found == {text: tuple(vector(text)) for text in texts}
    assert loopback.counts["received"] == 3


@pytest.mark.parametrize("api", APIS)
async def test_what_the_cache_holds_is_not_asked_again(api: str, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    file = model_file(api, loopback, "small")
    for texts, requests in ((["a", "b"], 1), (["a", "b"], 1), (["b", "c"], 2)):
        cache = EmbeddingCache(tmp_path / "cache.sqlite")
        assert await embed_texts(file, texts, cache) == {text: tuple(vector(text)) for text in texts}
        cache.close()
        assert loopback.counts["received"] == requests


async def test_another_model_does_not_get_the_vectors_of_this_one(
    loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    for name in ("small", "large"):
        await embed_texts(model_file("chat", loopback, name), ["a"], cache)
    assert loopback.counts["received"] == 2
    assert embedding_digest("a", "b") != embedding_digest("b", "a")


@pytest.mark.parametrize("api", APIS)
async def test_failures_are_repeated(api: str, loopback: Loopback, keys: str) -> None:
    loopback.service.faults = Faults(script=["500", "429", None])
    found = await embed_texts(model_file(api, loopback, "small", retries=QUICK), ["a"])
    assert found == {"a": tuple(vector("a"))} and loopback.counts["received"] == 3


@pytest.mark.parametrize("api", APIS)
async def test_every_request_is_on_the_ledger_with_its_cost(
    api: str, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.faults = Faults(script=["500", None])
    price = Price(model="*", date="2026-01", source="test", prompt=2.0, completion=0.0)
    file = model_file(api, loopback, "small", retries=QUICK, price=price)
    cache, ledger = EmbeddingCache(tmp_path / "cache.sqlite"), Ledger(tmp_path / "ledger.sqlite")
    for _ in range(2):
        await embed_texts(file, ["lend a book", "give it back"], cache, ledger=ledger)
    (total,) = ledger.totals()
    assert (total.purpose, total.sent, total.failed, total.answered, total.unknown) == ("embedding", 2, 1, 1, 0)
    # OpenAI states 6 tokens; Gemini does not, so the most there can be counts: 23 bytes / 2, and one per text.
    tokens, not_stated = (6, 0) if api == "chat" else (13, 1)
    assert (total.prompt_tokens, total.completion_tokens, total.not_stated) == (tokens, 0, not_stated)
    assert total.cost == pytest.approx(2 * tokens / 1e6) and total.possible_cost == 0


async def test_what_arrived_before_a_failure_is_kept(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.faults = Faults(script=[None, "500", "500"])
    file = model_file("chat", loopback, "small", retries=RetryPolicy(attempts=1), limits={"in_flight": 1})
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    texts = [f"book {n}" for n in range(BATCH_TEXTS + 1)]
    with pytest.raises(ServerError):
        await embed_texts(file, texts, cache)
    digests = [embedding_digest(file.name, text) for text in texts]
    assert list(cache.get(digests)) and len(cache.get(digests)) == BATCH_TEXTS


async def test_a_wrong_or_missing_key_is_named(loopback: Loopback, keys: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loopback.service.key = "another"
    with pytest.raises(WrongKeyError, match="COMPATIBLE_API_KEY"):
        await embed_texts(model_file("chat", loopback, "small"), ["a"])
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        await embed_texts(ModelFile(name="openai/small"), ["a"])
