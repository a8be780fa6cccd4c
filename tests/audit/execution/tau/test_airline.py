import json
from typing import Any

from agenthard.audit.execution.tau.airline import AirlineTools
from agenthard.audit.execution.tau.tools import Release

ADA = {"first_name": "Ada", "last_name": "Byron", "dob": "1990-12-10"}
BOOKING: dict[str, Any] = {
    "user_id": "ada_1",
    "origin": "BOS",
    "destination": "ORD",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [{"flight_number": "HAT901", "date": "2024-05-20"}],
    "passengers": [ADA, ADA],
    "payment_methods": [{"payment_id": "certificate_1", "amount": 150}, {"payment_id": "gift_card_1", "amount": 160}],
    "total_baggages": 3,
    "nonfree_baggages": 1,
    "insurance": "yes",
}
CHANGE: dict[str, Any] = {
    "reservation_id": "AAA111",
    "cabin": "economy",
    "flights": [
        {"flight_number": "HAT901", "date": "2024-05-20"},
        {"flight_number": "HAT902", "date": "2024-05-21"},
    ],
    "payment_id": "gift_card_1",
}


def told(airline: AirlineTools, tool: str, **arguments: Any) -> str:
    return airline.invoke(tool, arguments).text


def done(airline: AirlineTools, tool: str, **arguments: Any) -> Any:
    observation = airline.invoke(tool, arguments)
    assert observation.error is None, observation.error
    return json.loads(observation.text)


def test_a_booking_is_priced_and_paid(airline: AirlineTools, release: Release) -> None:
    booked = done(airline, "book_reservation", **BOOKING)
    assert booked["reservation_id"] == "HATHAT"
    assert booked["flights"][0]["price"] == 100
    assert booked["created_at"] == "2024-05-15T15:00:00"
    user = airline.state.read("users", "ada_1")
    assert user["payment_methods"]["gift_card_1"]["amount"] == 40
    assert "certificate_1" not in user["payment_methods"]
    assert user["reservations"] == ["AAA111", "HATHAT"]
    seats = airline.state.read("flights", "HAT901")["dates"]["2024-05-20"]["available_seats"]["economy"]
    assert seats == (1 if release is Release.TAU2 else 3)


def test_a_refused_booking_changes_nothing(airline: AirlineTools, release: Release) -> None:
    start = "Error: Payment" if release is Release.TAU2 else "Error: payment"
    short = [{"payment_id": "gift_card_1", "amount": 160}]
    text = told(airline, "book_reservation", **{**BOOKING, "payment_methods": short})
    assert text == f"{start} amount does not add up, total price is 310, but paid 160"
    other = [{"payment_id": "gift_card_9", "amount": 310}]
    text = told(airline, "book_reservation", **{**BOOKING, "payment_methods": other})
    assert text == f"{start} method gift_card_9 not found"
    poor = [{"payment_id": "gift_card_1", "amount": 310}]
    assert "ot enough balance in payment method gift_card_1" in told(
        airline, "book_reservation", **{**BOOKING, "payment_methods": poor}
    )
    assert "ot enough seats on flight HAT901" in told(
        airline, "book_reservation", **{**BOOKING, "passengers": [ADA] * 4}
    )
    assert airline.state.changes() == {}


def test_the_fourth_new_reservation_overwrites_the_third(airline: AirlineTools) -> None:
    free = {**BOOKING, "flights": [], "insurance": "no", "nonfree_baggages": 0, "payment_methods": []}
    ids = [done(airline, "book_reservation", **free)["reservation_id"] for _ in range(4)]
    assert ids == ["HATHAT", "HATHAU", "HATHAV", "HATHAV"]


def test_changed_flights_are_charged_and_kept_ones_keep_their_price(airline: AirlineTools, release: Release) -> None:
    changed = done(airline, "update_reservation_flights", **CHANGE)
    assert [leg["price"] for leg in changed["flights"]] == [90, 140]
    assert changed["payment_history"][-1] == {"payment_id": "gift_card_1", "amount": 45}
    keys = list(changed["flights"][0])
    assert keys == (
        ["flight_number", "origin", "destination", "date", "price"]
        if release is Release.TAU2
        else ["flight_number", "date", "price", "origin", "destination"]
    )
    assert changed.get("status", "absent") == (None if release is Release.TAU2 else "absent")


def test_only_the_newer_release_stores_the_cabin(airline: AirlineTools, release: Release) -> None:
    changed = done(
        airline, "update_reservation_flights", **{**CHANGE, "cabin": "business", "payment_id": "credit_card_1"}
    )
    assert [leg["price"] for leg in changed["flights"]] == [300, 340]
    assert changed["cabin"] == ("business" if release is Release.TAU2 else "economy")


def test_a_change_must_be_payable(airline: AirlineTools) -> None:
    assert told(airline, "update_reservation_flights", **{**CHANGE, "payment_id": "certificate_1"}).endswith(
        "ertificate cannot be used to update reservation"
    )
    assert told(airline, "update_reservation_flights", **{**CHANGE, "cabin": "business"}).endswith(
        "ift card balance is not enough"
    )
    landed = [{"flight_number": "HAT902", "date": "2024-05-14"}]
    assert told(airline, "update_reservation_flights", **{**CHANGE, "flights": landed}).endswith(
        "light HAT902 not available on date 2024-05-14"
    )
    assert airline.state.changes() == {}


def test_bags_are_charged_when_more_of_them_cost(airline: AirlineTools) -> None:
    more = {"reservation_id": "AAA111", "total_baggages": 3, "nonfree_baggages": 2, "payment_id": "credit_card_1"}
    assert done(airline, "update_reservation_baggages", **more)["payment_history"][-1]["amount"] == 100
    fewer = {**more, "nonfree_baggages": 0}
    assert len(done(airline, "update_reservation_baggages", **fewer)["payment_history"]) == 2


def test_cancelling_books_the_payments_back_but_not_to_the_gift_card(airline: AirlineTools) -> None:
    done(airline, "update_reservation_flights", **CHANGE)
    cancelled = done(airline, "cancel_reservation", reservation_id="AAA111")
    assert [payment["amount"] for payment in cancelled["payment_history"]] == [185, 45, -185, -45]
    assert cancelled["status"] == "cancelled"
    assert airline.state.read("users", "ada_1")["payment_methods"]["gift_card_1"]["amount"] == 155


def test_passengers_are_replaced_by_as_many(airline: AirlineTools) -> None:
    eve = {"first_name": "Eve", "last_name": "Byron", "dob": "2001-01-01"}
    assert done(airline, "update_reservation_passengers", reservation_id="AAA111", passengers=[eve])["passengers"] == [
        eve
    ]
    text = told(airline, "update_reservation_passengers", reservation_id="AAA111", passengers=[eve, ADA])
    assert text.endswith("umber of passengers does not match")


def test_three_certificates_at_most(airline: AirlineTools, release: Release) -> None:
    texts = [told(airline, "send_certificate", user_id="ada_1", amount=50) for _ in range(4)]
    assert texts[0] == "Certificate certificate_3221322 added to user ada_1 with amount 50."
    assert texts[3] == ("Error: Too many certificates" if release is Release.TAU2 else "Error: too many certificates")


def test_direct_flights(airline: AirlineTools, release: Release) -> None:
    found = done(airline, "search_direct_flight", origin="BOS", destination="ORD", date="2024-05-20")
    assert [option["flight_number"] for option in found] == ["HAT901", "HAT903"]
    assert found[0].get("date", "absent") == (None if release is Release.TAU2 else "absent")
    assert done(airline, "search_direct_flight", origin="ORD", destination="SFO", date="2024-05-14") == []


def test_pairs_of_flights_wait_for_the_first_to_arrive(airline: AirlineTools, release: Release) -> None:
    pairs = done(airline, "search_onestop_flight", origin="BOS", destination="SFO", date="2024-05-20")
    assert [(a["flight_number"], b["flight_number"]) for a, b in pairs] == [("HAT901", "HAT902"), ("HAT903", "HAT902")]
    assert [b["date"] for _, b in pairs] == ["2024-05-20", "2024-05-21"]
    over_midnight = pairs[1][1]["prices"]["economy"]
    assert over_midnight == (140 if release is Release.TAU2 else 120)


def test_unknown_things_in_each_wording(airline: AirlineTools, release: Release) -> None:
    new = release is Release.TAU2
    assert told(airline, "get_user_details", user_id="x") == (
        "Error: User x not found" if new else "Error: user not found"
    )
    text = told(airline, "get_reservation_details", reservation_id="x")
    assert text == ("Error: Reservation x not found" if new else "Error: user not found")
    text = told(airline, "get_flight_status", flight_number="HAT902", date="2024-05-14")
    assert text == ("landed" if new else "Unknown action get_flight_status")
    assert told(airline, "think", thought="hm") == ("Error: Tool 'think' not found." if new else "")


def test_the_newer_release_validates_passengers(airline: AirlineTools, release: Release) -> None:
    text = told(airline, "update_reservation_passengers", reservation_id="AAA111", passengers=[{"first_name": "Ada"}])
    if release is Release.TAU2:
        assert text.startswith("Error: 2 validation errors for Passenger\nlast_name\n  Field required [type=missing")
        assert text.endswith("For further information visit https://errors.pydantic.dev/2.11/v/missing")
    else:
        assert json.loads(text)["passengers"] == [{"first_name": "Ada"}]
