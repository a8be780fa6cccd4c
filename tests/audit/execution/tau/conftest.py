"""A small airline and a small shop, written by hand in the shape of the benchmarks' databases."""

from typing import Any

import pytest

from agenthard.audit.execution.tau.airline import AirlineTools
from agenthard.audit.execution.tau.retail import RetailTools
from agenthard.audit.execution.tau.state import State
from agenthard.audit.execution.tau.tools import Release
from agenthard.taxonomy import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, ToolCall, UserSpec

ADDRESS = {"address1": "1 Elm Road", "address2": "", "city": "Ghent", "country": "USA", "state": "NY", "zip": "10001"}


def day(economy: int, business: int, seats: int = 3) -> dict[str, Any]:
    return {
        "status": "available",
        "available_seats": {"basic_economy": seats, "economy": seats, "business": seats},
        "prices": {"basic_economy": economy // 2, "economy": economy, "business": business},
    }


def flight(number: str, route: tuple[str, str], hours: tuple[str, str], days: dict[str, Any]) -> dict[str, Any]:
    return {
        "flight_number": number,
        "origin": route[0],
        "destination": route[1],
        "scheduled_departure_time_est": hours[0],
        "scheduled_arrival_time_est": hours[1],
        "dates": days,
    }


def airline_tables() -> dict[str, Any]:
    landed = {"status": "landed"}
    return {
        "flights": {
            "HAT901": flight("HAT901", ("BOS", "ORD"), ("08:00:00", "10:00:00"), {"2024-05-20": day(100, 300)}),
            "HAT902": flight(
                "HAT902",
                ("ORD", "SFO"),
                ("11:00:00", "13:00:00"),
                {"2024-05-14": landed, "2024-05-20": day(120, 320), "2024-05-21": day(140, 340)},
            ),
            "HAT903": flight("HAT903", ("BOS", "ORD"), ("22:00:00", "00:30:00+1"), {"2024-05-20": day(80, 280)}),
            "HAT904": flight("HAT904", ("ORD", "SFO"), ("09:00:00", "11:00:00"), {"2024-05-20": day(60, 260)}),
        },
        "reservations": {
            "AAA111": {
                "reservation_id": "AAA111",
                "user_id": "ada_1",
                "origin": "BOS",
                "destination": "SFO",
                "flight_type": "one_way",
                "cabin": "economy",
                "flights": [
                    {
                        "origin": "BOS",
                        "destination": "ORD",
                        "flight_number": "HAT901",
                        "date": "2024-05-20",
                        "price": 90,
                    },
                    {
                        "origin": "ORD",
                        "destination": "SFO",
                        "flight_number": "HAT902",
                        "date": "2024-05-20",
                        "price": 95,
                    },
                ],
                "passengers": [{"first_name": "Ada", "last_name": "Byron", "dob": "1990-12-10"}],
                "payment_history": [{"payment_id": "credit_card_1", "amount": 185}],
                "created_at": "2024-05-02T03:10:19",
                "total_baggages": 1,
                "nonfree_baggages": 0,
                "insurance": "no",
            }
        },
        "users": {
            "ada_1": {
                "name": {"first_name": "Ada", "last_name": "Byron"},
                "address": dict(ADDRESS),
                "email": "ada@example.com",
                "dob": "1990-12-10",
                "payment_methods": {
                    "credit_card_1": {
                        "source": "credit_card",
                        "brand": "visa",
                        "last_four": "1",
                        "id": "credit_card_1",
                    },
                    "gift_card_1": {"source": "gift_card", "amount": 200, "id": "gift_card_1"},
                    "certificate_1": {"source": "certificate", "amount": 150, "id": "certificate_1"},
                },
                "saved_passengers": [],
                "membership": "gold",
                "reservations": ["AAA111"],
            }
        },
    }


def item(name: str, product: str, number: str, price: float, colour: str) -> dict[str, Any]:
    return {"name": name, "product_id": product, "item_id": number, "price": price, "options": {"color": colour}}


def variant(number: str, price: float, colour: str, available: bool = True) -> dict[str, Any]:
    return {"item_id": number, "options": {"color": colour}, "available": available, "price": price}


def order(number: str, status: str, items: list[dict[str, Any]], paid_with: str) -> dict[str, Any]:
    amount = round(sum(entry["price"] for entry in items), 2)
    return {
        "order_id": number,
        "user_id": "ben_2",
        "address": dict(ADDRESS),
        "items": items,
        "fulfillments": [],
        "status": status,
        "payment_history": [{"transaction_type": "payment", "amount": amount, "payment_method_id": paid_with}],
    }


def retail_tables() -> dict[str, Any]:
    lamp, mug = item("Lamp", "P1", "11", 40.5, "red"), item("Mug", "P2", "21", 9.99, "red")
    return {
        "orders": {
            "#W1": order("#W1", "pending", [dict(lamp), dict(mug)], "gift_card_2"),
            "#W2": order("#W2", "delivered", [dict(lamp), dict(mug)], "paypal_2"),
        },
        "products": {
            "P1": {
                "name": "Lamp",
                "product_id": "P1",
                "variants": {
                    "11": variant("11", 40.5, "red"),
                    "12": variant("12", 50.75, "blue"),
                    "13": variant("13", 30.0, "green", available=False),
                },
            },
            "P2": {
                "name": "Mug",
                "product_id": "P2",
                "variants": {"21": variant("21", 9.99, "red"), "22": variant("22", 8.5, "blue")},
            },
        },
        "users": {
            "ben_2": {
                "name": {"first_name": "Ben", "last_name": "Ode"},
                "address": dict(ADDRESS),
                "email": "ben@example.com",
                "payment_methods": {
                    "paypal_2": {"source": "paypal", "id": "paypal_2"},
                    "gift_card_2": {"source": "gift_card", "balance": 20, "id": "gift_card_2"},
                    "credit_card_2": {
                        "source": "credit_card",
                        "brand": "visa",
                        "last_four": "2",
                        "id": "credit_card_2",
                    },
                },
                "orders": ["#W1", "#W2"],
            }
        },
    }


@pytest.fixture(params=list(Release), ids=lambda release: release.value)
def release(request: pytest.FixtureRequest) -> Release:
    return Release(request.param)


@pytest.fixture
def airline(release: Release) -> AirlineTools:
    return AirlineTools(State(airline_tables()), release)


@pytest.fixture
def retail(release: Release) -> RetailTools:
    return RetailTools(State(retail_tables()), release)


def make_task(benchmark: str, domain: str, calls: list[ToolCall], outputs: tuple[str, ...] = ()) -> AgentTask:
    """A task over one of the two small databases, scored on its final state and on what is said."""
    checks = [Check(kind="final_state", scored=True, pointer="/ground_truth/turns/0")]
    checks += [
        Check(kind="output_substring", scored=True, expected=text, pointer=f"/ground_truth/outputs/{i}")
        for i, text in enumerate(outputs)
    ]
    return AgentTask(
        id=f"{domain}/0",
        native_id="0",
        benchmark=benchmark,
        subtask=domain,
        user=UserSpec(kind="simulated", instruction="You are Ada."),
        environment=EnvironmentSpec(state=airline_tables() if domain.startswith("airline") else retail_tables()),
        evaluation=EvaluationSpec(checks=tuple(checks)),
        ground_truth=GroundTruth(semantics="reference_path", turns=(tuple(calls),), outputs=outputs),
    )
