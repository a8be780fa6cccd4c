"""A small airline and a small shop, written by hand, under policies made of the sentences that the rules cite."""

from typing import Any

import pytest

from agenthard.audit.execution.policy.checker import rule_books
from agenthard.audit.execution.tau import Tau2Environment, TauBenchEnvironment
from agenthard.taxonomy import AgentTask, EnvironmentSpec, EvaluationSpec, GroundTruth, ToolCall, UserSpec

Json = dict[str, Any]

BAGS = (
    "If the booking user is a regular member: 0 free checked bag for each basic economy passenger, 1 free checked bag "
    "for each economy passenger. If the booking user is a gold member: 2 free checked bag for each basic economy "
    "passenger, 3 free checked bag for each economy passenger, 4 free checked bags for each business passenger."
)


@pytest.fixture(params=["tau2", "tau-bench"])
def benchmark_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def environment_of(benchmark: str) -> Tau2Environment | TauBenchEnvironment:
    return Tau2Environment() if benchmark == "tau2" else TauBenchEnvironment()


def policy(domain: str, wording: int = 0) -> str:
    """All sentences that the rules of a domain cite; 0 for the first wording of each, -1 for the last."""
    rules = [rule for book in rule_books() if book.domain == domain for rule in book.rules]
    said = [sentence for rule in rules for sentence in rule.wordings[wording]]
    return "\n".join(["The current time is 2024-05-15 15:00:00 EST.", BAGS, *said])


def make_task(
    domain: str,
    tables: Json,
    calls: list[ToolCall],
    *,
    benchmark: str = "tau2",
    said: str = "",
    rules: str | None = None,
) -> AgentTask:
    return AgentTask(
        id=f"{domain}/0",
        native_id="0",
        benchmark=benchmark,
        subtask=domain,
        user=UserSpec(kind="simulated", instruction=said),
        environment=EnvironmentSpec(state=tables, policy=policy(domain) if rules is None else rules),
        evaluation=EvaluationSpec(),
        ground_truth=GroundTruth(semantics="reference_path", turns=(tuple(calls),), call_matching="state"),
    )


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def open_day(seats: int = 3) -> Json:
    return {
        "status": "available",
        "available_seats": {"basic_economy": seats, "economy": seats, "business": seats},
        "prices": {"basic_economy": 50, "economy": 100, "business": 300},
    }


def flight(number: str, origin: str, destination: str, days: Json) -> Json:
    hours = {"scheduled_departure_time_est": "08:00:00", "scheduled_arrival_time_est": "10:00:00"}
    return {"flight_number": number, "origin": origin, "destination": destination, **hours, "dates": days}


def leg(number: str, date: str) -> Json:
    return {"flight_number": number, "date": date}


def booked(key: str, user: str, cabin: str, *legs: Json, passengers: int = 1, **changes: Any) -> Json:
    return {
        "reservation_id": key,
        "user_id": user,
        "origin": "AAA",
        "destination": "BBB",
        "flight_type": "one_way",
        "cabin": cabin,
        "flights": [{**one, "origin": "AAA", "destination": "BBB", "price": 80} for one in legs],
        "passengers": [{"first_name": f"P{i}", "last_name": "Q", "dob": "1990-01-01"} for i in range(passengers)],
        "payment_history": [{"payment_id": "card", "amount": 80 * passengers}],
        "created_at": "2024-05-02T03:10:19",
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
        **changes,
    }


def flyer(key: str, membership: str, reservations: list[str]) -> Json:
    kinds = {"card": "credit_card", "card2": "credit_card", "cert": "certificate", "cert2": "certificate"}
    methods: Json = {name: {"source": kind, "id": name, "amount": 500} for name, kind in kinds.items()}
    methods |= {f"gift{i}": {"source": "gift_card", "id": f"gift{i}", "amount": 500} for i in range(4)}
    return {"user_id": key, "membership": membership, "payment_methods": methods, "reservations": reservations}


def airline_tables() -> Json:
    soon = leg("F1", "2024-05-20")
    reservations = [
        booked("ECO", "ann", "economy", soon),
        booked("BASIC", "ann", "basic_economy", soon),
        booked("BUSINESS", "ann", "business", soon),
        booked("NEW", "ann", "economy", soon, created_at="2024-05-14T15:30:00"),
        booked("STOPPED", "ann", "economy", leg("F1", "2024-05-16")),
        booked("INSURED", "ann", "economy", soon, insurance="yes"),
        booked("FLOWN", "ann", "business", leg("F1", "2024-05-14"), soon),
        booked("ROUND", "ann", "economy", soon, leg("F2", "2024-05-22"), flight_type="round_trip"),
        booked("ODD", "ann", "economy", leg("F2", "2024-05-22")),
        booked("LATE", "gil", "economy", leg("F1", "2024-05-15"), passengers=2),
        booked("LATE2", "zoe", "economy", leg("F1", "2024-05-15")),
    ]
    days = {
        "2024-05-14": {"status": "landed"},
        "2024-05-15": {"status": "delayed"},
        "2024-05-16": {"status": "cancelled"},
        "2024-05-20": open_day(),
        "2024-05-21": open_day(seats=1),
    }
    flights = [
        flight("F1", "AAA", "BBB", days),
        flight("F2", "BBB", "AAA", {"2024-05-22": open_day()}),
        flight("F3", "AAA", "CCC", {"2024-05-20": open_day()}),
    ]
    users = [
        flyer("ann", "regular", [one["reservation_id"] for one in reservations if one["user_id"] == "ann"]),
        flyer("gil", "gold", ["LATE"]),
        flyer("zoe", "regular", ["LATE2"]),
    ]
    return {
        "flights": {one["flight_number"]: one for one in flights},
        "reservations": {one["reservation_id"]: one for one in reservations},
        "users": {one["user_id"]: one for one in users},
    }


def item(name: str, product: str, number: str, price: float) -> Json:
    return {"name": name, "product_id": product, "item_id": number, "price": price, "options": {}}


def order(number: str, user: str, status: str, paid_with: str) -> Json:
    items = [item("Lamp", "P1", "11", 40.0), item("Mug", "P2", "21", 10.0)]
    payment = {"transaction_type": "payment", "amount": 50.0, "payment_method_id": paid_with}
    return {"order_id": number, "user_id": user, "items": items, "status": status, "payment_history": [payment]}


def shopper(key: str) -> Json:
    methods: Json = {name: {"source": name, "id": name} for name in ("paypal", "credit_card")}
    methods |= {"poor": {"source": "gift_card", "balance": 5.0, "id": "poor"}}
    methods |= {"rich": {"source": "gift_card", "balance": 500.0, "id": "rich"}}
    name = {"first_name": key, "last_name": "Ode"}
    address = {"address1": "1 Elm Road", "address2": "", "city": "Ghent", "country": "USA", "state": "NY", "zip": "1"}
    return {"user_id": key, "name": name, "email": f"{key}@x.org", "address": address, "payment_methods": methods}


def retail_tables() -> Json:
    lamps = {"11": (40.0, True), "12": (60.0, True), "13": (30.0, False)}
    mugs = {"21": (10.0, True), "22": (8.0, True)}
    products = {
        product: {
            "name": name,
            "product_id": product,
            "variants": {
                number: {"item_id": number, "price": price, "available": available, "options": {}}
                for number, (price, available) in variants.items()
            },
        }
        for product, name, variants in (("P1", "Lamp", lamps), ("P2", "Mug", mugs))
    }
    orders = [
        order("#P", "ben", "pending", "paypal"),
        order("#D", "ben", "delivered", "paypal"),
        order("#C", "cat", "pending", "paypal"),
    ]
    return {
        "orders": {one["order_id"]: one for one in orders},
        "products": products,
        "users": {key: shopper(key) for key in ("ben", "cat")},
    }
