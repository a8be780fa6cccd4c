from pathlib import Path

import pytest

from agenthard.models.budget import Amount, Budget, max_amount
from agenthard.models.errors import ConfigurationError
from agenthard.models.prices import PriceTable, load_prices
from agenthard.models.request import Sampling, Usage
from tests.models.scripted import ask

LOCAL = """
currency: USD
prices:
  - {model: "compatible/*@http://localhost:8000/v1", prompt: 0, completion: 0, date: 2026-11-21, source: ours}
  - {model: openai/gpt-4o, prompt: 1, cached: 0.5, completion: 4, date: 2026-11, source: our contract}
  - {model: openai/gpt-4o-*, prompt: 9, completion: 9, date: 2026-11, source: our contract}
"""


@pytest.mark.parametrize("model", ["openai/gpt-4o", "openai/gpt-4o-2024-08-06", "google/gemini-2.5-flash"])
def test_a_list_price_names_date_and_source(model: str) -> None:
    price = load_prices().of(model)
    assert price is not None and price.model == model and price.completion > price.prompt > (price.cached or 0)
    assert price.batch == 0.5 and price.source.startswith("list price of ") and price.date
    assert PriceTable(currency="USD").of(model) is None


def test_cost_by_kind_of_token() -> None:
    # 1,000 fresh at 2.5, 500 cached at 1.25 and 200 of the reply at 10 per million.
    usage = Usage(prompt_tokens=1500, cached_tokens=500, completion_tokens=200, reasoning_tokens=150)
    assert load_prices().cost("openai/gpt-4o", usage) == pytest.approx((2500 + 625 + 2000) / 1e6)


def test_a_long_prompt_has_its_own_rates() -> None:
    table = load_prices()
    at, above = Usage(prompt_tokens=200_000, completion_tokens=1), Usage(prompt_tokens=200_001, completion_tokens=1)
    assert table.cost("google/gemini-2.5-pro", at) == pytest.approx(0.25 + 10e-6)
    assert table.cost("google/gemini-2.5-pro", above) == pytest.approx(200_001 * 2.5e-6 + 15e-6)


def test_no_price_is_not_a_price_of_zero(tmp_path: Path) -> None:
    assert load_prices().cost("openai/unheard-of", Usage(prompt_tokens=5)) is None
    own = tmp_path / "prices.yaml"
    own.write_text(LOCAL)
    table = load_prices(own)
    assert table.cost("compatible/qwen@http://localhost:8000/v1", Usage(prompt_tokens=5)) == 0.0
    assert table.cost("compatible/qwen@http://localhost:80001/v1", Usage(prompt_tokens=5)) is None


def test_the_users_table_goes_before_ours_and_names_before_patterns(tmp_path: Path) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text(LOCAL)
    table, million = load_prices(own), Usage(prompt_tokens=1_000_000)
    assert table.cost("openai/gpt-4o", million) == 1.0
    assert table.cost("openai/gpt-4o-2099-01-01", million) == 9.0
    assert table.cost("openai/gpt-4o-mini", million) == 9.0, "a pattern of the user counts before a list price"
    assert load_prices().cost("openai/gpt-4o-mini", million) == 0.15
    assert table.cost("openai/gpt-5", million) == 1.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("currency: EUR", "is in EUR, the list prices of the providers in USD"),
        (
            "currency: USD\nprices: [{model: a, prompt: 1, completion: 1, date: 2026-11}]",
            r"prices.0.source: Field required",
        ),
        ("currency: USD\nprices: [{model: a, prompt: -1, completion: 1, date: 2026-11, source: s}]", "prices.0.prompt"),
        ("a: [", "not valid YAML"),
        ("- 1", "top level"),
        ("", "top level"),
        (
            LOCAL + "  - {model: openai/gpt-4o, prompt: 1, completion: 1, date: 2026-11, source: s}",
            "gpt-4o has two prices",
        ),
    ],
)
def test_a_wrong_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(text)
    with pytest.raises(ConfigurationError, match=message) as raised:
        load_prices(own)
    assert "own.yaml" in str(raised.value)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot read the price table .*none.yaml"):
        load_prices(tmp_path / "none.yaml")


def test_a_budget_in_money_needs_every_price() -> None:
    Budget(tokens=5).require_prices(["openai/unheard-of"], load_prices())
    Budget(money=5).require_prices(["openai/gpt-4o"], load_prices())
    with pytest.raises(ConfigurationError, match="needs a price for a/b, openai/unheard-of"):
        Budget(money=5).require_prices(["openai/unheard-of", "openai/gpt-4o", "a/b"], load_prices())


def test_limits_of_a_budget_hold_one_by_one() -> None:
    budget = Budget(money=1.0, tokens=100, calls=3)
    assert budget.allows(Amount(3, 100, 1.0)) and Budget().allows(Amount(10**9, 10**12, 1e9))
    assert not any(budget.allows(one) for one in (Amount(4, 0, 0), Amount(0, 101, 0), Amount(0, 0, 1.001)))
    assert budget.used(Amount(2, 50, 0.25), "USD") == "0.2500 of 1 USD, 50 of 100 tokens, 2 of 3 requests"


def test_the_most_a_request_can_take() -> None:
    # 5 bytes / 2 + 4 = 6 tokens of the prompt at 2.5, 1,000 of the reply at 10 per million.
    request = ask("hello", model="openai/gpt-4o", sampling=Sampling(max_output_tokens=1000))
    assert list(max_amount(request, load_prices())) == pytest.approx([1, 1006, (15 + 10_000) / 1e6])
    open_ended = ask("hello", sampling=Sampling())
    assert max_amount(open_ended, PriceTable(currency="USD")) == Amount(1, 16_390, 0.0)
