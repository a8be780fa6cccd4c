"""A ferry company with a calendar of sailings: more than is shown of a state, and written by rule."""

from typing import Any

from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, ToolCall, UserSpec
from tests.builders import make_task

PORTS = ("RIGA", "KIEL", "OSLO", "GENT", "HULL", "VIGO", "CORK", "BARI", "FARO")
DAYS = tuple(f"2031-06-{day:02}" for day in range(1, 11))
ROUTES = tuple((one, two) for one in PORTS for two in PORTS if one != two)
"""72 routes. F001 sails from Riga to Kiel, as F073 does; F002 from Riga to Oslo, F009 from Kiel to Riga, F018 from Oslo
to Kiel."""


def sailing(number: int, route: tuple[str, str]) -> dict[str, Any]:
    dates = {day: {"berths": number + at, "fare": 10 * number + at} for at, day in enumerate(DAYS)}
    return {"sailing": f"F{number:03}", "origin": route[0], "destination": route[1], "leaves": "09:00", "dates": dates}


def booking(number: int) -> dict[str, Any]:
    return {
        "booking_id": f"BK{number:03}",
        "member": f"member_{number // 2:03}",
        "legs": [{"sailing": f"F{number % 72 + 1:03}", "date": DAYS[number % 10]}],
        "booked_at": "2031-05-20T10:00:00",
    }


def member(number: int) -> dict[str, Any]:
    return {"name": {"first": f"First{number % 12}", "last": f"Last{number // 12}"}, "city": f"Town {number % 17}"}


FERRIES = EnvironmentSpec(
    policy="Never move a booking to another day.",
    state={
        "sailings": {f"F{n:03}": sailing(n, route) for n, route in enumerate(ROUTES, 1)},
        "bookings": {f"BK{n:03}": booking(n) for n in range(120)},
        "members": {f"member_{n:03}": member(n) for n in range(60)},
    },
)
FERRIES.state["sailings"]["F073"] = sailing(73, ("RIGA", "KIEL"))


def ferry_task(text: str, *calls: ToolCall, environment: EnvironmentSpec = FERRIES, **changes: Any) -> AgentTask:
    values = {
        "user": UserSpec(kind="simulated", instruction=text),
        "environment": environment,
        "ground_truth": GroundTruth(semantics="reference_path", turns=(calls,), call_matching="state"),
    }
    return make_task(**{**values, **changes})
