"""First task of the back end: parcels come in."""

import random

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.backend.talk import LARGE, SMALL, Step, converse, get, post, store
from agenthard.agency.suite.kit import Clause, TaskPlan


def assigns(probe: Probe) -> Outcome:
    """Which locker a parcel gets."""
    draw = random.Random(41)
    steps: list[Step] = [store(f"person {each}", draw.choice("SSML")) for each in range(20)]
    return converse(probe, LARGE, [*steps, get("/lockers")])


def fills(probe: Probe) -> Outcome:
    """When no locker is left."""
    steps = [store("a", "S"), store("b", "S"), store("c", "S"), store("d", "S"), store("e", "S"), store("f", "L")]
    other = [store("a", "L"), store("b", "L"), store("c", "M"), store("d", "M"), store("e", "S"), get("/lockers")]
    first = converse(probe, SMALL, steps)
    return first if first.share < 1 else converse(probe, SMALL, other)


def refuses(probe: Probe) -> Outcome:
    """Bodies that are refused, and that store nothing."""
    bad: list[Step] = [("POST", "/parcels", body, None) for body in (None, "", "{", "[]", "1", "null", '"x"')]
    bad += [post("/parcels"), post("/parcels", recipient="a"), post("/parcels", size="S")]
    bad += [post("/parcels", recipient=each, size="S") for each in ("", " \t", None, 3, ["a"])]
    bad += [post("/parcels", recipient="a", size=each) for each in ("s", "XL", "", None, 1, ["S"], "SM")]
    return converse(probe, SMALL, [*bad, get("/lockers"), post("/parcels", recipient=" a ", size="S", more=1)])


def shows(probe: Probe) -> Outcome:
    """Parcels by their number."""
    steps = [store("Ana Ruiz", "M"), store("Øyvind", "S"), get("/parcels/1"), get("/parcels/2"), get("/parcels/2")]
    return converse(probe, SMALL, [*steps, get("/parcels/3"), get("/parcels/0"), get("/parcels/02")])


def lists(probe: Probe) -> Outcome:
    """All lockers."""
    return converse(probe, LARGE, [get("/lockers"), store("a", "L"), store("b", "S"), get("/lockers")])


def routes(probe: Probe) -> Outcome:
    """Paths and methods that do not exist."""
    paths = ("/", "/parcel", "/parcels/", "/parcels/x", "/parcels/-1", "/parcels/1/", "/lockers/A1", "/lockers/")
    steps: list[Step] = [get(each) for each in paths]
    steps += [(method, "/parcels/1", "{}", None) for method in ("POST", "PUT", "DELETE", "PATCH")]
    steps += [(method, "/lockers", "{}", None) for method in ("POST", "PUT", "DELETE", "PATCH")]
    steps += [(method, "/parcels", None, None) for method in ("PUT", "DELETE", "PATCH")]
    return converse(probe, SMALL, [store("a", "S"), *steps, ("DELETE", "/nothing", None, None), get("/parcels/1")])


INTRO = """
Write the service that README.md describes. Parcels have the sizes `S`, `M` and `L`, as lockers do; a locker holds one
parcel that is not larger than itself.
"""
STORING = TaskPlan(
    "Parcel lockers: storing",
    INTRO,
    {"service.py": "the service"},
    (
        Clause(
            "assign",
            'POST /parcels with `{"recipient": TEXT, "size": SIZE}` stores a parcel in a free locker of the'
            " smallest size"
            " that fits, the first such in LOCKERS, and answers 201 with its `id` (1, 2, 3 …), its `locker` and its"
            " `code`"
            " (the first six hexadecimal digits of the SHA-256 of `ID:RECIPIENT` in UTF-8).",
            assigns,
            3,
        ),
        Clause("full", 'Where no free locker fits, it answers 409 with `{"error": "full"}`.', fills, 1.5),
        Clause(
            "invalid",
            "A body that is not a JSON object, a recipient that is not text or a blank one, and any other size are"
            " answered 400"
            ' with `{"error": "invalid"}`; members that are not named here are ignored.',
            refuses,
            2,
        ),
        Clause(
            "show",
            "GET /parcels/ID answers 200 with `id`, `recipient` (as it was sent), `size`, `locker` and `state`"
            " (`stored`),"
            ' and 404 with `{"error": "unknown"}` where no such parcel exists; leading zeros of ID do not count.',
            shows,
            1.5,
        ),
        Clause(
            "lockers",
            "GET /lockers answers 200 with the list of LOCKERS in its order, each with `id`, `size` and `parcel`:"
            " the id of"
            " the parcel in it, or null.",
            lists,
        ),
        Clause(
            "routes",
            'Any other path is answered 404 with `{"error": "unknown"}` (an ID is digits only), and GET, POST, PUT,'
            " DELETE"
            ' or PATCH on a path that does not have it 405 with `{"error": "method"}`; GET /parcels is left open'
            " for now.",
            routes,
        ),
    ),
)
