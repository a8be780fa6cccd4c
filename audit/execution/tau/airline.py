"""The airline's tools: one method per tool, named and parametrised as the benchmark documents them."""

from typing import Any

from agenthard.audit.execution.tau.flights import AIRPORTS, leg, onestop, options
from agenthard.audit.execution.tau.payloads import FlightInfo, Passenger, Payment, checked
from agenthard.audit.execution.tau.state import copied
from agenthard.audit.execution.tau.tools import Tools

NOW = "2024-05-15T15:00:00"
"""The current time that the policy states."""
NEW_RESERVATIONS = ("HATHAT", "HATHAU", "HATHAV")
"""Ids of new reservations, in order; the last one is used again and again, so its reservation is overwritten."""
NEW_CERTIFICATES = (3221322, 3221323, 3221324)
"""Numbers of new certificates, in order."""
BAG_PRICE, INSURANCE_PRICE = 50, 30
"""Dollars per extra bag, and per insured passenger."""

Json = dict[str, Any]


class AirlineTools(Tools):
    """Tools over the tables ``flights``, ``users`` and ``reservations``."""

    domain = "airline"

    def get_user_details(self, user_id: str) -> Json:
        """Show a user."""
        return self._user(user_id)

    def get_reservation_details(self, reservation_id: str) -> Json:
        """Show a reservation."""
        if not self.state.has("reservations", reservation_id):
            self._fail("user not found", f"Reservation {reservation_id} not found")
        return self._shown(self.state.read("reservations", reservation_id))

    def list_all_airports(self) -> Json | list[Json]:
        """Show the airports and their cities."""
        return [{"iata": code, "city": city} for code, city in AIRPORTS.items()] if self._new else AIRPORTS

    def search_direct_flight(self, origin: str, destination: str, date: str) -> list[Json]:
        """Find flights between two airports that can be booked."""
        return options(self.state, origin, destination, date, self._new)

    def search_onestop_flight(self, origin: str, destination: str, date: str) -> list[list[Json]]:
        """Find pairs of flights that can be booked, the second leaving after the first arrives."""
        return onestop(self.state, origin, destination, date, self._new)

    def get_flight_status(self, flight_number: str, date: str) -> str:
        """Tell the status of a flight."""
        return str(self._day(flight_number, date)["status"])

    def book_reservation(
        self,
        user_id: str,
        origin: str,
        destination: str,
        flight_type: str,
        cabin: str,
        flights: list[Json],
        passengers: list[Json],
        payment_methods: list[Json],
        total_baggages: int,
        nonfree_baggages: int,
        insurance: str,
    ) -> Json:
        """Book flights and pay for them; only τ²-bench reduces the free seats."""
        if self._new:
            flights, passengers = checked(FlightInfo, flights), checked(Passenger, passengers)
            payment_methods = checked(Payment, payment_methods)
        user = self._user(user_id)
        free = (key for key in NEW_RESERVATIONS if not self.state.has("reservations", key))
        key = next(free, NEW_RESERVATIONS[-1])
        legs = [leg(flight, *self._seats(flight, cabin, len(passengers))) for flight in flights]
        extras = INSURANCE_PRICE * len(passengers) * (insurance == "yes") + BAG_PRICE * nonfree_baggages
        total = sum(part["price"] for part in legs) * len(passengers) + extras
        for payment in payment_methods:
            self._check_payment(user, payment["payment_id"], payment["amount"])
        paid = sum(payment["amount"] for payment in payment_methods)
        if paid != total:
            self._fail(f"payment amount does not add up, total price is {total}, but paid {paid}")
        reservation = {
            "reservation_id": key,
            "user_id": user_id,
            "origin": origin,
            "destination": destination,
            "flight_type": flight_type,
            "cabin": cabin,
            "flights": legs,
            "passengers": copied(passengers),
            "payment_history": copied(payment_methods),
            "created_at": NOW,
            "total_baggages": total_baggages,
            "nonfree_baggages": nonfree_baggages,
            "insurance": insurance,
        }
        user = self.state.edit("users", user_id)
        for payment in payment_methods:
            method = user["payment_methods"][payment["payment_id"]]
            if method["source"] == "gift_card":
                method["amount"] -= payment["amount"]
            elif method["source"] == "certificate":
                del user["payment_methods"][payment["payment_id"]]
        for part in legs if self._new else ():
            day = self.state.edit("flights", part["flight_number"])["dates"][part["date"]]
            day["available_seats"][cabin] -= len(passengers)
        self.state.add("reservations", key, reservation)
        user["reservations"].append(key)
        return self._shown(reservation)

    def cancel_reservation(self, reservation_id: str) -> Json:
        """Cancel a reservation and book its payments back."""
        reservation = self._reservation(reservation_id)
        history = reservation["payment_history"]
        history += [{"payment_id": one["payment_id"], "amount": -one["amount"]} for one in history]
        reservation["status"] = "cancelled"
        return self._shown(reservation)

    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
    ) -> Json:
        """Set the numbers of bags; further paid ones are charged."""
        reservation = self._reservation(reservation_id)
        price = BAG_PRICE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
        self._charge(reservation, payment_id, price)
        reservation["total_baggages"], reservation["nonfree_baggages"] = total_baggages, nonfree_baggages
        return self._shown(reservation)

    def update_reservation_flights(self, reservation_id: str, cabin: str, flights: list[Json], payment_id: str) -> Json:
        """Replace the flights and the cabin.

        Legs that stay in the same cabin keep their old price. τ-bench charges for the cabin but never stores it, so
        that the reservation still shows the old one.
        """
        reservation = self._reservation(reservation_id)
        if self._new:
            flights = checked(FlightInfo, flights)
        count = len(reservation["passengers"])
        legs = [self._kept(reservation, cabin, flight) or self._new_leg(flight, cabin, count) for flight in flights]
        price = (sum(one["price"] for one in legs) - sum(one["price"] for one in reservation["flights"])) * count
        self._charge(reservation, payment_id, price)
        reservation["flights"] = legs
        if self._new:
            reservation["cabin"] = cabin
        return self._shown(reservation)

    def update_reservation_passengers(self, reservation_id: str, passengers: list[Json]) -> Json:
        """Replace the passengers by the same number of others."""
        reservation = self._reservation(reservation_id)
        if self._new:
            passengers = checked(Passenger, passengers)
        if len(passengers) != len(reservation["passengers"]):
            self._fail("number of passengers does not match")
        reservation["passengers"] = copied(passengers)
        return self._shown(reservation)

    def send_certificate(self, user_id: str, amount: float) -> str:
        """Give a user a certificate."""
        user = self._user(user_id)
        for number in NEW_CERTIFICATES:
            key = f"certificate_{number}"
            if key not in user["payment_methods"]:
                method: Json = {"source": "certificate", "amount": amount, "id": key}
                if self._new:
                    method = {"source": "certificate", "id": key, "amount": float(amount)}
                self.state.edit("users", user_id)["payment_methods"][key] = method
                return f"Certificate {key} added to user {user_id} with amount {amount}."
        self._fail("too many certificates")

    def _withheld(self) -> frozenset[str]:
        return super()._withheld() | (frozenset() if self._new else {"get_flight_status"})

    def _user(self, user_id: str) -> Json:
        if not self.state.has("users", user_id):
            self._fail("user not found", f"User {user_id} not found")
        return self.state.read("users", user_id)

    def _reservation(self, reservation_id: str) -> Json:
        if not self.state.has("reservations", reservation_id):
            self._fail("reservation not found", f"Reservation {reservation_id} not found")
        return self.state.edit("reservations", reservation_id)

    def _day(self, number: str, date: str) -> Json:
        if not self.state.has("flights", number):
            self._fail(f"flight {number} not found")
        days: dict[str, Json] = self.state.read("flights", number)["dates"]
        if date not in days:
            self._fail(f"flight {number} not found on date {date}")
        return days[date]

    def _seats(self, flight: Json, cabin: str, count: int) -> tuple[Json, int]:
        """Return a flight and its price, when it can be booked for so many passengers."""
        number, date = flight["flight_number"], flight["date"]
        day = self._day(number, date)
        if day["status"] != "available":
            self._fail(f"flight {number} not available on date {date}")
        if day["available_seats"][cabin] < count:
            self._fail(f"not enough seats on flight {number}")
        return self.state.read("flights", number), day["prices"][cabin]

    def _new_leg(self, flight: Json, cabin: str, count: int) -> Json:
        return leg(flight, *self._seats(flight, cabin, count))

    def _kept(self, reservation: Json, cabin: str, flight: Json) -> Json | None:
        """Return a leg as booked before, at its old price, when neither it nor the cabin changes."""
        if cabin != reservation["cabin"]:
            return None
        place = flight["flight_number"], flight["date"]
        old = next((one for one in reservation["flights"] if (one["flight_number"], one["date"]) == place), None)
        return None if old is None else leg(flight, old, old["price"])

    def _check_payment(self, user: Json, payment_id: str, amount: float) -> None:
        method = user["payment_methods"].get(payment_id)
        if method is None:
            self._fail(f"payment method {payment_id} not found")
        if method["source"] in ("gift_card", "certificate") and method["amount"] < amount:
            self._fail(f"not enough balance in payment method {payment_id}")

    def _charge(self, reservation: Json, payment_id: str, price: float) -> None:
        """Charge the price of a change, or refund it."""
        user = self.state.edit("users", reservation["user_id"])
        method = user["payment_methods"].get(payment_id)
        if method is None:
            self._fail("payment method not found")
        if method["source"] == "certificate":
            self._fail("certificate cannot be used to update reservation")
        if method["source"] == "gift_card" and method["amount"] < price:
            self._fail("gift card balance is not enough")
        if method["source"] == "gift_card":
            method["amount"] -= price
        if price != 0:
            reservation["payment_history"].append({"payment_id": payment_id, "amount": price})

    def _shown(self, reservation: Json) -> Json:
        """Return a reservation as the release shows it."""
        if not self._new:
            return reservation
        order = ("flight_number", "origin", "destination", "date", "price")
        legs = [{key: part[key] for key in order} for part in reservation["flights"]]
        return {**reservation, "flights": legs, "status": reservation.get("status")}
