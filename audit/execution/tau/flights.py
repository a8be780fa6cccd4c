"""Looking for flights, and the legs of a reservation."""

from typing import Any

from agenthard.audit.execution.tau.state import State, copied

AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}
"""Cities by airport, in the order in which they are listed; the database does not hold them."""

_ORDER = (
    "flight_number",
    "origin",
    "destination",
    "status",
    "scheduled_departure_time_est",
    "scheduled_arrival_time_est",
    "date",
    "available_seats",
    "prices",
)
_DEPARTURE, _ARRIVAL, _NEXT_DAY = "scheduled_departure_time_est", "scheduled_arrival_time_est", "+1"

Json = dict[str, Any]


def options(state: State, origin: str, destination: str, date: str, tau2: bool) -> list[Json]:
    """List the flights between two airports that can be booked on a day.

    Args:
        state: database with the table ``flights``.
        origin: airport code.
        destination: airport code.
        date: day as YYYY-MM-DD.
        tau2: whether they are shown as τ²-bench shows them.
    """
    found = (flight for _, flight in state.records("flights"))
    matching = (flight for flight in found if flight["origin"] == origin and flight["destination"] == destination)
    return [_shown(flight, date, None, tau2) for flight in matching if _bookable(flight, date)]


def onestop(state: State, origin: str, destination: str, date: str, tau2: bool) -> list[list[Json]]:
    """List the pairs of flights between two airports that can be booked, the first one on the day ``date``.

    Args:
        state: database with the table ``flights``.
        origin: airport code.
        destination: airport code.
        date: day as YYYY-MM-DD.
        tau2: whether they are shown as τ²-bench shows them.

    In τ-bench the second flight of a pair that spans midnight shows the seats and prices of the day before, next to the
    right date.

    Raises:
        ValueError: when a first flight arrives on the next day, and ``date`` does not end with a day of the month.
    """
    flights = [flight for _, flight in state.records("flights")]
    last = [flight for flight in flights if flight["destination"] == destination]
    pairs = []
    for first in (flight for flight in flights if flight["origin"] == origin):
        for second in (flight for flight in last if flight["origin"] == first["destination"]):
            later = f"2024-05-{int(date[-2:]) + 1}" if _NEXT_DAY in first[_ARRIVAL] else date
            if first[_ARRIVAL] > second[_DEPARTURE]:
                continue
            if _bookable(first, date) and _bookable(second, later):
                pairs.append([_shown(first, date, date, tau2), _shown(second, later if tau2 else date, later, tau2)])
    return pairs


def leg(flight: Json, known: Json, price: float) -> Json:
    """Return the leg of a reservation: what the call says of it, and its price and airports."""
    return {**copied(flight), "price": price, "origin": known["origin"], "destination": known["destination"]}


def _bookable(flight: Json, date: str) -> bool:
    return date in flight["dates"] and bool(flight["dates"][date]["status"] == "available")


def _shown(flight: Json, date: str, stated: str | None, tau2: bool) -> Json:
    fields: Json = {key: value for key, value in flight.items() if key != "dates"} | flight["dates"][date]
    if tau2:
        fields["date"] = stated
        return {key: fields[key] for key in _ORDER}
    return fields if stated is None else fields | {"date": stated}
