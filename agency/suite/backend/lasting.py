"""Third task of the back end: days pass, the service is killed, requests are repeated."""

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.backend.collecting import COLLECTING, pick
from agenthard.agency.suite.backend.talk import LARGE, SMALL, Step, code, converse, get, post, store
from agenthard.agency.suite.kit import Clause, TaskPlan


def wait(days: object) -> Step:
    """Return the request that lets days pass."""
    return post("/days", days=days)


def returns(probe: Probe) -> Outcome:
    """Parcels that wait too long."""
    steps = [store("Ana", "S"), wait(3), store("Bo", "S"), *[pick(2, "no")] * 3, wait(1), store("Cy", "L"), wait(2)]
    steps += [get("/parcels"), wait(1), get("/parcels"), get("/lockers"), store("Di", "S"), wait(2), get("/lockers")]
    steps += [
        wait(1),
        get("/parcels?state=returned"),
        pick(4, code(4, "Di")),
        wait(40),
        get("/parcels"),
        get("/lockers"),
    ]
    return converse(probe, SMALL, steps)


def days_are_checked(probe: Probe) -> Outcome:
    """Days that are refused, and parcels that are gone."""
    bad = [wait(each) for each in (0, -1, 1.5, "1", None, True, [1], 2.0)]
    bad += [post("/days"), ("POST", "/days", None, None), ("POST", "/days", "3", None)]
    other: list[Step] = [("GET", "/days", None, None), ("POST", "/events", "{}", None), ("DELETE", "/days", None, None)]
    steps = [store("Ana", "S"), *bad, wait(6), *other, get("/parcels/1"), wait(1)]
    steps += [pick(1, code(1, "Ana")), pick(1, "no"), pick(1, 3), pick(2, "no"), get("/parcels/1")]
    return converse(probe, SMALL, steps)


def survives(probe: Probe) -> Outcome:
    """A service that is killed between requests."""
    steps = [store("Ana", "S"), "kill", store("Bo", "M", "k1"), pick(1, "no"), "kill", pick(1, "no"), wait(2), "kill"]
    steps += [
        get("/parcels"),
        pick(1, "no"),
        "kill",
        get("/parcels/1"),
        store("Bo", "M", "k1"),
        store("Cy", "L"),
        "kill",
    ]
    steps += [pick(2, code(2, "Bo")), "kill", get("/lockers"), wait(5), "kill", get("/parcels"), get("/events")]
    steps += [
        store("Di", "S"),
        "kill",
        store("Ed", "S"),
        wait(2),
        "kill",
        get("/lockers"),
        get("/parcels"),
        get("/events"),
    ]
    return converse(probe, SMALL, steps)


def repeats(probe: Probe) -> Outcome:
    """Requests with a key."""
    invalid = post("/parcels", "k3", recipient="", size="S")
    steps = [store("Ana", "S", "k1"), store("Ana", "S", "k1"), store("Ana", "S", "k2"), get("/parcels")]
    steps += [store("Bo", "S", "k1"), store("Ana", "M", "k1"), post("/parcels", "k1", size="S", recipient="Ana")]
    steps += [
        invalid,
        store("Cy", "S", "k3"),
        store("Cy", "S", "k3"),
        post("/parcels", "k3", recipient="Cy", size="S", x=1),
    ]
    steps += [store("Di", "L", "k4"), store("Ed", "L", "k5"), pick(4, code(4, "Di")), store("Ed", "L", "k5")]
    steps += [store("Di", "L", "k4"), store("Ana", "S"), store("Ana", "S", "K1"), get("/parcels"), get("/lockers")]
    return converse(probe, SMALL, steps)


def notes(probe: Probe) -> Outcome:
    """What happened, in order."""
    steps = [get("/events"), store("Ana", "S"), store("Bo", "L"), wait(2), pick(2, "no"), pick(2, code(2, "Bo"))]
    steps += [
        store("Cy", "S"),
        *[pick(3, "no")] * 4,
        get("/events"),
        store("Di", "S"),
        wait(4),
        wait(1),
        get("/events"),
    ]
    return converse(probe, LARGE, [*steps, wait(2), get("/events")])


def keeps(probe: Probe) -> Outcome:
    """What the tasks before asked."""
    return min((clause.check(probe) for clause in COLLECTING.clauses), key=lambda each: each.share)


LASTING = TaskPlan(
    "Parcel lockers: days and restarts",
    "Extend the service: parcels that wait too long go back, and nothing is lost when the service is killed.",
    {"service.py": "the extended service"},
    (
        Clause(
            "days",
            'POST /days with `{"days": COUNT}` lets as many days pass and answers 200 with `{"day": D}`, the days'
            " since the beginning;"
            " a parcel that is stored or blocked 7 days or more after the day on which it was stored becomes"
            " `returned`, and"
            " its locker is free again.",
            returns,
            2.5,
        ),
        Clause(
            "days-invalid",
            "COUNT is an integer of at least 1, else the answer is 400 with `invalid`; to collect a returned parcel is"
            " answered"
            " 410 with `returned` (404 and 400 come before), and other methods on /days and /events 405 with `method`.",
            days_are_checked,
            1,
        ),
        Clause(
            "restart",
            "After the service was killed (SIGKILL) and started again with the same arguments, every later answer"
            " is the"
            " same as if it had run on.",
            survives,
            3,
        ),
        Clause(
            "key",
            "POST /parcels with a header `Idempotency-Key` that was sent before with an equal JSON body and was"
            " answered 201"
            " gives the same answer and stores nothing; with another body it is answered 422 with `key` as `error`; a"
            " request that stored nothing leaves its key free.",
            repeats,
            2,
        ),
        Clause(
            "events",
            "GET /events answers 200 with the list of all that happened, in order, parcels that return on one day"
            " in order"
            " of their ids: each with `event` (`stored`, `collected`, `blocked` or `returned`), `parcel` (its id)"
            " and `day`.",
            notes,
            1,
        ),
        Clause("keep", "All that the tasks before asked is still so.", keeps, 0.5),
    ),
)
