"""Third task of the code scenario: rooms for meetings."""

import heapq
import random
from functools import cache

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.code import recurrence
from agenthard.agency.suite.code.calls import Call, compare
from agenthard.agency.suite.kit import MARK, Clause, TaskPlan, agree, results


def right(name: str, *args: object) -> object:
    """Return what is right."""
    if name == "rooms":
        return rooms(args[0])  # type: ignore[arg-type]
    if name == "busiest":
        return busiest(args[0])  # type: ignore[arg-type]
    return conflicts(*map(str, args))


def rooms(meetings: list[tuple[str, int, int]]) -> dict[str, int]:
    """Give each meeting the lowest room that is free."""
    free: list[int] = []
    used: list[tuple[int, int]] = []
    count, found = 0, {}
    for name, begin, end in sorted(meetings, key=lambda each: (each[1], -each[2], each[0])):
        while used and used[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(used)[1])
        if not free:
            count += 1
            free.append(count)
        room = heapq.heappop(free)
        heapq.heappush(used, (end, room))
        found[name] = room
    return found


def busiest(meetings: list[tuple[str, int, int]]) -> list[int] | None:
    """Return the most meetings at a time, with the first span of time that has as many."""
    edges = sorted({edge for _, begin, end in meetings for edge in (begin, end)})
    changes = dict.fromkeys(edges, 0)
    for _, begin, end in meetings:
        changes[begin] += 1
        changes[end] -= 1
    now, best, span = 0, 0, None
    for at, edge in enumerate(edges):
        now += changes[edge]
        if now > best:
            later = next(each for each in edges[at + 1 :] if changes[each])
            best, span = now, [now, edge, later]
    return span


def conflicts(first: str, second: str, since: str, until: str) -> list[object]:
    """Return when the occurrences of two rules overlap."""
    one = recurrence.right("occurrences", first, since, until)
    two = recurrence.right("occurrences", second, since, until)
    found: list[object] = []
    for day, begin, end in one:  # type: ignore[attr-defined]
        for other, other_begin, other_end in two:  # type: ignore[attr-defined]
            if day == other and max(begin, other_begin) < min(end, other_end):
                found.append([day, max(begin, other_begin), min(end, other_end)])
    return found


def drawn(draw: random.Random, count: int, most: int) -> list[list[object]]:
    """Draw meetings."""
    names = [f"m{each}" for each in range(count)]
    draw.shuffle(names)
    found: list[list[object]] = []
    for name in names:
        begin = draw.randrange(most)
        found.append([name, begin, begin + draw.randint(1, max(most // 3, 2))])
    return found


def assigns(probe: Probe) -> Outcome:
    """Rooms of few meetings."""
    draw = random.Random(71)
    calls: list[Call] = [("rooms", [drawn(draw, draw.randint(0, 9), 12)]) for _ in range(150)]
    return compare(probe, "slots.plan", calls, right)


def finds_busiest(probe: Probe) -> Outcome:
    """The busiest time of few meetings."""
    draw = random.Random(72)
    calls: list[Call] = [("busiest", [drawn(draw, draw.randint(0, 9), 12)]) for _ in range(150)]
    return compare(probe, "slots.plan", calls, right)


LARGE = """
import json, os, sys
sys.path.insert(0, os.getcwd())
from slots.plan import busiest, rooms
begins = [(at * 7919) %% 60000 for at in range(60000)]
meetings = [(f"m{begin}", begin, begin + 15000 + at %% 7) for at, begin in enumerate(begins)]
found = rooms(list(meetings))
print(%r + json.dumps([max(found.values()), [found[f"m{at}"] for at in range(0, 60000, 997)], busiest(list(meetings))]))
"""


@cache
def large() -> list[object]:
    """Return what is right for the meetings of :data:`LARGE`."""
    begins = [(at * 7919) % 60000 for at in range(60000)]
    meetings = [(f"m{begin}", begin, begin + 15000 + at % 7) for at, begin in enumerate(begins)]
    given = rooms(meetings)
    return [max(given.values()), [given[f"m{at}"] for at in range(0, 60000, 997)], busiest(meetings)]


def is_quick(probe: Probe) -> Outcome:
    """60,000 meetings, of which 15,000 are at a time."""
    found = results(probe, "python3", "-c", LARGE % MARK)
    return agree(found, large(), ["number of rooms", "rooms", "busiest time"])


def finds_conflicts(probe: Probe) -> Outcome:
    """Rules that overlap."""
    draw = random.Random(73)
    spans = ["09:00-10:30", "10:00-11:00", "10:30-12:00", "00:00-24:00", "09:30-09:45", "11:59-12:01"]
    calls: list[Call] = []
    for _ in range(60):
        pair = []
        for _ in "ab":
            days = sorted(draw.sample(recurrence.DAYS, draw.randint(1, 5)), key=recurrence.DAYS.index)
            weeks = draw.choice(["every week", "every 2 weeks", "every 3 weeks"])
            gone = draw.choice(["", "", " except 2031-01-06,2031-01-15"])
            pair.append(f"{weeks} on {','.join(days)} {draw.choice(spans)}{gone}")
        calls.append(("conflicts", [*pair, f"2031-01-0{draw.randint(1, 9)}", f"2031-0{draw.randint(1, 2)}-14"]))
    bad = ["every week on MO 9", "2031-01-01", "2031-02-01"]
    calls += [
        ("conflicts", ["every week on MO 09:00-10:30", *bad]),
        ("conflicts", [bad[0], "every week on MO 09:00-10:30", *bad[1:]]),
    ]
    return compare(probe, "slots.plan", calls, right)


INTRO = """
Add `slots/plan.py`. A meeting is `(name, begin, end)` with begin < end, the end excluded; names are texts, and no two
meetings of a list have one name. Arguments are not changed.
"""
PLAN = TaskPlan(
    "slots: planning",
    INTRO,
    {"slots/plan.py": "module with `rooms`, `busiest` and `conflicts`"},
    (
        Clause(
            "rooms",
            "`rooms(meetings)` returns a dict from each name to the number of a room: in order of their begin (of"
            " one begin"
            " the one that ends later first, then in order of names) meetings get the lowest room, from 1, that is"
            " free at"
            " their begin.",
            assigns,
            3,
        ),
        Clause(
            "busiest",
            "`busiest(meetings)` returns `(count, begin, end)`: the largest number of meetings at a time, and the"
            " first span"
            " of time, as long as the number does not change, that has as many; None without meetings.",
            finds_busiest,
            2.5,
        ),
        Clause(
            "quick",
            "Both work on 60,000 meetings, of which 15,000 are at a time, in 6 seconds of processor time.",
            is_quick,
            2,
        ),
        Clause(
            "conflicts",
            "`conflicts(rule, other, first, last)` lists, in order, `(date, begin, end)` of all overlaps of"
            " occurrences of"
            " two rules; errors of the rules and dates are those of `occurrences`.",
            finds_conflicts,
            2.5,
        ),
    ),
)
