"""Second task of the back end: parcels are collected and listed."""

import random

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.backend.storing import STORING
from agenthard.agency.suite.backend.talk import LARGE, SMALL, Step, code, converse, get, post, store
from agenthard.agency.suite.kit import Clause, TaskPlan


def pick(number: int, with_code: object) -> Step:
    """Return the request that collects a parcel."""
    return post(f"/parcels/{number}/pickup", code=with_code)


def collects(probe: Probe) -> Outcome:
    """Parcels that leave, and lockers that are free again."""
    steps = [store("Ana", "S"), store("Bo", "L"), store("Cy", "S"), pick(2, code(2, "Bo")), get("/parcels/2")]
    steps += [get("/lockers"), store("Di", "L"), pick(4, code(4, "Di")), pick(1, code(1, "Ana")), store("Ed", "S")]
    return converse(probe, SMALL, [*steps, get("/lockers"), get("/parcels/1"), get("/parcels/5")])


def blocks(probe: Probe) -> Outcome:
    """Wrong codes."""
    right = code(1, "Ana")
    steps = [store("Ana", "S"), store("Bo", "S"), pick(1, "000000"), pick(1, right.upper() + " "), get("/parcels/1")]
    steps += [pick(2, right), pick(1, ""), get("/parcels/1"), pick(1, right), pick(1, "x"), get("/lockers")]
    steps += [pick(2, right), pick(2, code(2, "Bo")), get("/parcels/2"), store("Cy", "S"), get("/lockers")]
    return converse(probe, SMALL, steps)


def refuses(probe: Probe) -> Outcome:
    """Requests to collect that cannot be met."""
    right = code(1, "Ana")
    steps: list[Step] = [store("Ana", "S"), pick(2, right), pick(0, right), post("/parcels/1/pickup")]
    steps += [pick(1, each) for each in (None, 1, [right], {"code": right}) for _ in range(2)]
    steps += [("POST", "/parcels/1/pickup", body, None) for body in (None, "{", "[]", f'"{right}"')]
    steps += [("GET", "/parcels/1/pickup", None, None), ("PUT", "/parcels/1/pickup", "{}", None), get("/parcels/1")]
    steps += [pick(1, right), pick(1, right), pick(1, "wrong"), pick(1, None), get("/parcels/1"), pick(2, None)]
    return converse(probe, SMALL, steps)


def filled() -> list[Step]:
    """Store, collect and block parcels."""
    draw = random.Random(42)
    names = [draw.choice(["Ana", "Bo", "Cy & Söhne"]) for _ in range(26)]
    steps: list[Step] = [store(name, "S") for name in names]
    steps += [pick(number, code(number, names[number - 1])) for number in (2, 3, 9, 17, 26)]
    return [*steps, *[pick(number, "no") for number in (4, 5, 21) for _ in range(3)]]


def lists(probe: Probe) -> Outcome:
    """Lists of parcels."""
    queries: tuple[str, ...] = (
        "",
        "?limit=5",
        "?limit=1&offset=25",
        "?offset=26",
        "?offset=7&limit=100",
        "?state=collected&limit=2",
    )
    queries += ("?state=stored&recipient=Bo", "?recipient=Cy%20%26%20S%C3%B6hne&offset=1", "?state=blocked", "?")
    queries += (
        "?recipient=bo",
        "?recipient=",
        "?state=returned",
        "?limit=007&offset=00",
        "?recipient=Ana&state=blocked",
    )
    return converse(probe, LARGE, [*filled(), *[get(f"/parcels{query}") for query in queries]])


def list_refuses(probe: Probe) -> Outcome:
    """Lists that are refused."""
    queries: tuple[str, ...] = (
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=",
        "limit=x",
        "limit=1.0",
        "offset=-1",
        "offset=",
        "offset=x",
    )
    queries += ("state=Stored", "state=", "state=gone", "page=2", "limit=5&size=S", "limit=5&limit=5", "limit=%2B5")
    steps: list[Step] = [get("/parcels?limit=100"), *[get(f"/parcels?{query}") for query in queries]]
    return converse(probe, SMALL, [store("Ana", "S"), *steps])


def keeps(probe: Probe) -> Outcome:
    """What the first task asked."""
    return min((clause.check(probe) for clause in STORING.clauses), key=lambda each: each.share)


COLLECTING = TaskPlan(
    "Parcel lockers: collecting",
    "Extend the service: recipients collect parcels with their code, and parcels can be listed.",
    {"service.py": "the extended service"},
    (
        Clause(
            "collect",
            'POST /parcels/ID/pickup with `{"code": TEXT}` and the code of a stored parcel answers 200 with what'
            " GET /parcels/ID shows from then on: `state` is `collected`, `locker` stays; the locker is free again.",
            collects,
            3,
        ),
        Clause(
            "block",
            'Any other text is answered 403 with `{"error": "code"}`; the third such for a parcel makes its `state`'
            " `blocked`: it stays in its locker, and to collect it, with any text, is answered 423 with"
            ' `{"error": "blocked"}`.',
            blocks,
            2.5,
        ),
        Clause(
            "refuse",
            "To collect a parcel that does not exist is answered 404 with `unknown`, then a body without a text as"
            " `code`"
            " 400 with `invalid`, then a collected parcel 409 with `collected`, each as `error`; none of them"
            " counts as a"
            " wrong code, and other methods are answered 405 with `method`.",
            refuses,
            1.5,
        ),
        Clause(
            "list",
            "GET /parcels answers 200 with `total`, the number of all parcels that are asked for, and `parcels`, a"
            " list of"
            " them as GET /parcels/ID shows them, in order of their ids: `state` and `recipient` select by equality,"
            " `offset` (default 0) leaves out as many, `limit` (1 to 100, default 20) says how many there are at most.",
            lists,
            2,
        ),
        Clause(
            "list-invalid",
            "A query with another name, a name twice, a `limit` or `offset` that is not digits only or not in its"
            " range, or"
            " a `state` other than `stored`, `collected`, `blocked` and `returned` is answered 400 with"
            ' `{"error": "invalid"}`.',
            list_refuses,
            1,
        ),
        Clause("keep", "All that the first task asked is still so.", keeps, 1),
    ),
)
