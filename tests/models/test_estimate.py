import pytest
from pydantic import ValidationError

from agenthard.models.estimate import Spread, Workload, estimate
from agenthard.models.prices import Price, PriceTable
from agenthard.models.request import Call, ChatMessage, Image, OutputSchema, Sampling, Tool
from agenthard.models.tokens import most_output_tokens, most_prompt_tokens, prompt_tokens
from tests.models.scripted import MODEL, PRICES, ask


def spread(low: float, typical: float, high: float) -> Spread:
    return Spread(low=low, typical=typical, high=high)


WORK = Workload(
    model=MODEL,
    episodes=10,
    requests=spread(2, 5, 20),
    prompt_tokens=spread(100, 400, 1000),
    completion_tokens=spread(10, 50, 200),
)


def test_requests_tokens_and_money_as_a_range() -> None:
    found = estimate(WORK, PRICES)
    assert found.requests == spread(20, 50, 200)
    assert found.prompt_tokens == spread(2000, 20_000, 200_000)
    assert found.completion_tokens == spread(200, 2500, 40_000)
    # 2 per million of the prompts and 10 per million of the replies.
    assert found.cost is not None
    assert [found.cost.low, found.cost.typical, found.cost.high] == pytest.approx([0.006, 0.065, 0.8])


def test_the_cache_takes_off_what_it_has() -> None:
    found = estimate(WORK.model_copy(update={"begun": 4}), PRICES)
    # Low and typical: the four cost nothing. High: only their first requests do not, 6 * 20 + 4 * 19.
    assert found.requests == spread(12, 30, 196)
    done = estimate(WORK.model_copy(update={"begun": 10}), PRICES)
    assert done.requests == spread(0, 0, 190) and done.cost is not None and done.cost.typical == 0


def test_without_a_price_there_is_no_cost() -> None:
    assert estimate(WORK, PriceTable(currency="USD")).cost is None
    free = Price(model=MODEL, prompt=0, completion=0, date="2026-11", source="ours")
    assert estimate(WORK, PriceTable(currency="USD", prices=(free,))).cost == spread(0, 0, 0)


def test_spreads_add_up_and_are_in_order() -> None:
    assert spread(1, 2, 3) + spread(10, 20, 30) == spread(11, 22, 33)
    with pytest.raises(ValidationError, match="not in order"):
        spread(2, 1, 3)
    with pytest.raises(ValidationError, match="11 episodes begun are more than 10"):
        Workload(**{**WORK.model_dump(), "begun": 11})


def test_tokens_of_a_prompt() -> None:
    # 400 characters / 4 + 4; at most 400 bytes / 2 + 4.
    assert (prompt_tokens(ask("abcd" * 100)), most_prompt_tokens(ask("abcd" * 100))) == (104, 204)
    # Three bytes a character: 30 / 4 + 4, at most 90 / 2 + 4.
    assert (prompt_tokens(ask("漢" * 30)), most_prompt_tokens(ask("漢" * 30))) == (11, 49)


def test_everything_that_is_sent_counts() -> None:
    plain = prompt_tokens(ask())
    long = "words " * 100
    calls = ChatMessage(role="assistant", calls=(Call(id="1", name="f", arguments=long),))
    for request in (
        ask(tools=(Tool(name="f", description=long),)),
        ask(output=OutputSchema(name="o", json_schema={"description": long})),
        ask(messages=(ChatMessage(role="user", text="hello"), calls)),
        ask(messages=(ChatMessage(role="assistant", text="hello", reasoning=long),)),
        ask(messages=(ChatMessage(role="assistant", text="hello", provider_state=long),)),
        ask(messages=(ChatMessage(role="user", images=(Image(media_type="image/png", data="A"),)),)),
    ):
        assert prompt_tokens(request) >= plain + 140 and most_prompt_tokens(request) > prompt_tokens(request)


def test_the_longest_reply() -> None:
    assert most_output_tokens(ask(sampling=Sampling())) == 16_384
    assert most_output_tokens(ask(sampling=Sampling(max_output_tokens=50))) == 50
    assert most_output_tokens(ask(sampling=Sampling(max_output_tokens=50, thinking_tokens=800))) == 800
