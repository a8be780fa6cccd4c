"""First task of the code scenario: the reported faults."""

import random
import re
from collections.abc import Sequence
from typing import Any

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.code.calls import Call, compare
from agenthard.agency.suite.kit import Clause, TaskPlan

Span = Sequence[int]
DAY = 1440


def minutes(spans: Sequence[Span]) -> set[int]:
    """Return all minutes of spans."""
    return {minute for begin, end in spans for minute in range(begin, end)}


def runs(found: set[int]) -> list[tuple[int, int]]:
    """Return minutes as spans."""
    begins = sorted(each for each in found if each - 1 not in found)
    ends = sorted(each + 1 for each in found if each + 1 not in found)
    return list(zip(begins, ends, strict=True))


def right(name: str, *args: Any) -> Any:
    """Return what a function of the library has to return: minute by minute, the slow way."""
    spans: Sequence[Span] = args[0]
    if name == "parse":
        match = re.fullmatch("([0-9]{2}):([0-5][0-9])-([0-9]{2}):([0-5][0-9])", str(args[0]))
        found = [int(each) for each in match.groups()] if match else [0] * 4
        begin, end = found[0] * 60 + found[1], found[2] * 60 + found[3]
        if not begin < end <= DAY:
            raise ValueError
        return [begin, end]
    if name == "show":
        return "-".join(f"{each // 60:02}:{each % 60:02}" for each in args[0])
    if name == "merge":
        return runs(minutes(spans))
    others: Sequence[Span] = args[1]
    if name == "subtract":
        return runs(minutes(spans) - minutes(others))
    gaps = runs(set(range(*map(int, args[1]))) - minutes(spans))
    return [gap for gap in gaps if gap[1] - gap[0] >= int(str(args[2]))]


def drawn(draw: random.Random, most: int = 6) -> list[list[int]]:
    """Draw spans in any order."""
    begins = [draw.randrange(0, 60) for _ in range(draw.randint(0, most))]
    return [[begin, begin + draw.choice([1, 2, 5, 10, 30])] for begin in begins]


def reads(probe: Probe) -> Outcome:
    """Texts that are spans, and others."""
    texts = ["09:00-10:30", "00:00-24:00", "23:59-24:00", "00:00-00:01", "12:34-12:35", "09:00-10:30x", "x09:00-10:30"]
    texts += ["25:00-26:00", "09:60-10:00", "09:00-10:60", "09:00-09:60", "23:00-24:01", "24:00-24:00", "10:00-10:00"]
    texts += ["10:00-09:00", "09:00-10:30\n", "9:00-10:30", "09:00 - 10:30", "", "09:00", "٠٩:00-10:30", "09:00-24:00 "]
    texts += ["00:59-01:00", "19:05-20:00", "24:00-25:00", "-9:00-10:00", "09.00-10.30", "009:00-10:30"]
    return compare(probe, "slots.spans", [("parse", [each]) for each in texts], right)


def writes(probe: Probe) -> Outcome:
    """Spans as text."""
    spans = [[0, 1], [540, 630], [600, 1440], [59, 61], [1, 600], [0, 1440], [1439, 1440], [65, 129]]
    return compare(probe, "slots.spans", [("show", [each]) for each in spans], right)


def merges(probe: Probe) -> Outcome:
    """Spans that are joined."""
    draw = random.Random(51)
    calls: list[Call] = [("merge", [drawn(draw)]) for _ in range(150)]
    return compare(probe, "slots.spans", [("merge", [[[0, 100], [10, 20]]]), ("merge", [[]]), *calls], right)


def subtracts(probe: Probe) -> Outcome:
    """Spans that are taken away."""
    draw = random.Random(52)
    calls: list[Call] = [("subtract", [drawn(draw), drawn(draw)]) for _ in range(200)]
    return compare(probe, "slots.spans", calls, right)


def frees(probe: Probe) -> Outcome:
    """Gaps of a day."""
    draw = random.Random(53)
    calls: list[Call] = []
    for _ in range(150):
        begin = draw.randrange(0, 30)
        calls.append(("free", [drawn(draw), [begin, begin + draw.randint(1, 60)], draw.choice([1, 2, 3, 5, 10])]))
    return compare(probe, "slots.spans", calls, right)


REPAIR = TaskPlan(
    "slots: repair",
    "Read README.md and REPORTS.md, and repair the library. Names and arguments of its functions stay as they are.",
    {"slots/spans.py": "the repaired library"},
    (
        Clause(
            "parse",
            "`parse` reads two digits, a colon, two digits, a hyphen, and the same again, in ASCII digits and with"
            " nothing"
            " else around, where the first time is before the second, minutes are below 60 and no time is after"
            " 24:00; any"
            " other text raises a ValueError.",
            reads,
            2,
        ),
        Clause("show", "`show` writes what `parse` reads.", writes, 1),
        Clause(
            "merge",
            "`merge` returns the joined spans as sorted tuples, whatever the order of the spans; touching spans are"
            " one.",
            merges,
            2,
        ),
        Clause(
            "subtract",
            "`subtract` returns sorted tuples of the minutes that are in some of the spans and in none of the others,"
            " whatever the order of either, without empty spans; no function changes the lists that it gets.",
            subtracts,
            3,
        ),
        Clause(
            "free",
            "`free` returns the gaps within the day of at least `least` minutes, as sorted tuples.",
            frees,
            2,
        ),
    ),
)
