from pathlib import Path

import pytest

from agenthard.models.cassette import Player, Recorder, read_cassette
from agenthard.models.errors import BadRequestError, ConfigurationError, NotRecordedError, RateLimitError, StorageError
from agenthard.models.request import ChatMessage, Request, Sampling
from tests.models.scripted import Bench, Scripted, ask, conversation, say


async def record(path: Path, provider: Scripted, *requests: Request) -> None:
    recorder = Recorder(provider, path)
    for request in requests:
        try:
            await recorder.complete(request, 1.0)
        except RateLimitError:
            continue
    await recorder.close()


async def test_it_plays_what_it_recorded(tmp_path: Path) -> None:
    path, provider = tmp_path / "demo.jsonl", Scripted(say("é\u2028"), RateLimitError("slow down", 2.5), say("b"))
    await record(path, provider, ask("1"), ask("2"), ask("2"))
    assert provider.closed
    player = Player(path)
    with pytest.raises(RateLimitError, match="slow down") as raised:
        await player.complete(ask("2"), 1.0)
    assert raised.value.retry_after == 2.5
    for text, words in [("2", "b"), ("2", "b"), ("1", "é\u2028")]:
        assert (await player.complete(ask(text), 1.0)).message.text == words


async def test_a_client_gets_the_same_from_a_cassette(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    script = (RateLimitError("slow down", 2.5), say("a"), say("b"))
    live = Bench(tmp_path / "live", Recorder(Scripted(*script), path))
    replayed = []
    for bench in (live, None):
        bench = bench or Bench(tmp_path / "played", Player(path))
        done = [await bench.ask(ask(text)) for text in ("1", "2")]
        replayed.append([(one.reply, one.attempts, one.cost) for one in done])
        await bench.client.close()
    assert replayed[0] == replayed[1] and replayed[0][0][1] == 2


async def test_the_order_does_not_depend_on_arrival(tmp_path: Path) -> None:
    requests = [ask("x"), conversation(2), conversation(0), ask("a"), conversation(1)]
    for name, order in (("one", requests), ("two", requests[::-1])):
        await record(tmp_path / name, Scripted(), *order)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    lengths = [len(take.request.messages) for take in read_cassette(tmp_path / "one") if take.request.sample == 1]
    assert lengths == [2, 4, 6], "a conversation stands in its order"


async def test_it_adds_to_a_cassette_and_keeps_what_came_before_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    await record(path, Scripted(), ask("1"))
    await Recorder(Scripted(), path).complete(ask("2"), 1.0)  # never closed
    assert [take.request for take in read_cassette(path)] == [ask("1"), ask("2")]


@pytest.mark.parametrize(
    ("request_", "difference"),
    [
        (
            ask("good bye"),
            r'/messages/0/text = "good bye", where the most similar recorded request has /messages/0/text = "another"',
        ),
        (
            ask(sampling=Sampling(seed=7)),
            r"/sampling/max_output_tokens = null, where .* /sampling/max_output_tokens = 50",
        ),
        (ask(sample=1), r"/sample = 1, where the most similar recorded request has /sample = 0"),
        (
            ask(messages=(ChatMessage(role="user", text="hello"), ChatMessage(role="assistant"))),
            r'/messages/1/role = "assistant", where the most similar recorded request has /tools = \[\]',
        ),
        (
            ask(model="google/x"),
            r'/model = "google/x", where the most similar recorded request has /model = "openai/tiny"',
        ),
    ],
)
async def test_an_unknown_request_names_the_first_difference(
    tmp_path: Path, request_: Request, difference: str
) -> None:
    path = tmp_path / "demo.jsonl"
    await record(path, Scripted(), ask("another"), ask("hello"))
    with pytest.raises(NotRecordedError, match=difference):
        await Player(path).complete(request_, 1.0)


UNKNOWN_ERROR = '{"request": {"model": "m", "messages": []}, "outcome": {"error": "SystemExit", "message": ""}}'


@pytest.mark.parametrize("text", ["{", '{"request": {}}', UNKNOWN_ERROR])
def test_what_is_no_cassette_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text + "\n")
    for opening in (Player, lambda path: Recorder(Scripted(), path)):
        with pytest.raises(ConfigurationError, match="bad.jsonl, line 1: not a recorded attempt"):
            opening(path)
    with pytest.raises(ConfigurationError, match="cannot read the cassette"):
        Player(tmp_path / "none.jsonl")


async def test_an_empty_cassette_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(NotRecordedError, match="it contains no request"):
        await Player(tmp_path / "empty.jsonl").complete(ask(), 1.0)


async def test_a_cassette_that_cannot_be_written_stops(tmp_path: Path) -> None:
    recorder = Recorder(Scripted(BadRequestError("no")), tmp_path / "no-folder" / "demo.jsonl")
    with pytest.raises(StorageError, match="cannot write the cassette"):
        await recorder.complete(ask(), 1.0)
