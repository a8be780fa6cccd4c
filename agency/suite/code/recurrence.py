"""Second task of the code scenario: spans that recur."""

import datetime
import random
import re
from functools import cache

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.code import repair
from agenthard.agency.suite.code.calls import Call, compare
from agenthard.agency.suite.kit import Clause, TaskPlan

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
RULE = re.compile(
    r"every (?:(?P<count>[2-9]|[1-4][0-9]|5[0-2]) weeks|week) on (?P<days>\w\w(?:,\w\w)*) (?P<span>\S{11})"
    r"(?: except (?P<gone>[^ ]+))?"
)


def right(name: str, rule: str, first: str, last: str) -> object:
    """Return the dates and minutes of a rule."""
    match = RULE.fullmatch(rule)
    days = match["days"].split(",") if match else []
    if not match or any(each not in DAYS for each in days) or len(set(days)) < len(days):
        raise ValueError
    if days != sorted(days, key=DAYS.index):
        raise ValueError
    begin, end = repair.right("parse", match["span"])
    gone = [_date(each) for each in match["gone"].split(",")] if match["gone"] else []
    since, until = _date(first), _date(last)
    week = since - datetime.timedelta(days=since.weekday())
    found = []
    while week <= until:
        for each in days:
            day = week + datetime.timedelta(days=DAYS.index(each))
            if since <= day <= until and day not in gone:
                found.append([day.isoformat(), begin, end])
        week += datetime.timedelta(weeks=int(match["count"] or 1))
    return len(found) if name == "count" else found


_remembered = cache(right)  # years 1 to 9980 take a while


def _date(text: str) -> datetime.date:
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    return datetime.date.fromisoformat(text)


def _calls(seed: int, name: str, count: int, *, gone: bool) -> list[Call]:
    draw = random.Random(seed)
    calls: list[Call] = []
    for _ in range(count):
        since = datetime.date(2031, 1, 1) + datetime.timedelta(days=draw.randrange(700))
        until = since + datetime.timedelta(days=draw.choice([-1, 0, 1, 6, 7, 8, 13, 14, 20, 28]))
        days = sorted(draw.sample(DAYS, draw.randint(1, 4)), key=DAYS.index)
        weeks = draw.choice(["every week", "every week", "every 2 weeks", "every 3 weeks"])
        rule = f"{weeks} on {','.join(days)} {draw.choice(['09:00-10:30', '00:00-24:00', '07:05-07:06'])}"
        if gone:
            dates = [since + datetime.timedelta(days=draw.randrange(9)) for _ in range(draw.randint(1, 3))]
            rule += " except " + ",".join(each.isoformat() for each in dates)
        calls.append((name, [rule, since.isoformat(), until.isoformat()]))
    return calls


def weekly(probe: Probe) -> Outcome:
    """Rules without exceptions."""
    long = [("occurrences", ["every 52 weeks on SU 09:00-10:30", "2031-01-01", "2036-12-31"])]
    return compare(probe, "slots.recurrence", [*_calls(61, "occurrences", 60, gone=False), *long], right)


def with_exceptions(probe: Probe) -> Outcome:
    """Rules with exceptions."""
    return compare(probe, "slots.recurrence", _calls(62, "occurrences", 60, gone=True), right)


BAD = (
    "",
    "every weeks on MO 09:00-10:30",
    "every 1 weeks on MO 09:00-10:30",
    "every 0 weeks on MO 09:00-10:30",
    "every 02 weeks on MO 09:00-10:30",
    "every 53 weeks on MO 09:00-10:30",
    "every 60 weeks on MO 09:00-10:30",
    "every 2 week on MO 09:00-10:30",
    "every week on  09:00-10:30",
    "every week on MO,MO 09:00-10:30",
    "every week on TU,MO 09:00-10:30",
    "every week on mo 09:00-10:30",
    "every week on XX 09:00-10:30",
    "every week on MO, TU 09:00-10:30",
    "every week on MO 10:30-09:00",
    "every week on MO 09:00-10:3x",
    "every week on MO 23:00-24:30",
    "every week on MO  09:00-10:30",
    " every week on MO 09:00-10:30",
    "every week on MO 09:00-10:30 ",
    "every week on MO 09:00-10:30\n",
    "Every week on MO 09:00-10:30",
    "every week on MO 09:00-10:30 except",
    "every week on MO 09:00-10:30 except ",
    "every week on MO 09:00-10:30 except 2031-02-29",
    "every week on MO 09:00-10:30 except 20310228",
    "every week on MO 09:00-10:30 except 2031-02-28,",
    "every week on MO 09:00-10:30 except 2031-02-28 2031-03-01",
    "every week on MO 09:00-10:30 until 2031-02-28",
)


def refuses(probe: Probe) -> Outcome:
    """Rules and dates that are refused."""
    calls: list[Call] = [("occurrences", [each, "2031-01-01", "2031-03-01"]) for each in BAD]
    good = "every week on MO 09:00-10:30"
    dates = ["", "2031-1-1", "2031-02-30", "20310101", "2031-W01-1", "2031-01-01 ", "2031-13-01"]
    calls += [("occurrences", [good, each, "2031-03-01"]) for each in dates]
    calls += [("occurrences", [good, "2031-01-01", each]) for each in dates]
    calls += [
        ("occurrences", [f"every {each} weeks on MO 09:00-10:30", "2031-01-01", "2031-02-01"]) for each in range(62)
    ]
    return compare(probe, "slots.recurrence", calls, right)


def counts(probe: Probe) -> Outcome:
    """Numbers of occurrences, also of very long times."""
    long: list[Call] = [
        ("count", ["every 3 weeks on MO,TU,WE,TH,FR,SA,SU 09:00-10:30", f"000{each}-01-01", "9980-12-24"])
        for each in (1, 2) * 120
    ]
    short = [*_calls(63, "count", 20, gone=True), *_calls(64, "count", 20, gone=False)]
    short += [
        ("count", ["every week on TU 09:00-10:30 except 2031-01-07,2031-01-07,2031-01-08", "2031-01-01", "2031-01-31"])
    ]
    return compare(probe, "slots.recurrence", [*short, *long], _remembered)


INTRO = """
Add `slots/recurrence.py`. A rule is a text such as

    every week on MO,TH 09:00-10:30
    every 2 weeks on SU 18:00-24:00 except 2031-05-04,2031-06-01

Weeks begin on Monday; `every N weeks` means the week of `first` and every N-th week after it. Days are MO TU WE TH
FR SA SU.
"""
RECURRENCE = TaskPlan(
    "slots: recurrence",
    INTRO,
    {"slots/recurrence.py": "module with `occurrences` and `count`"},
    (
        Clause(
            "occurrences",
            "`occurrences(rule, first, last)` lists, in order, `(date, begin, end)` for each day of the rule from"
            " `first` to"
            " `last`, both included: dates are texts such as 2031-05-04, begin and end minutes as"
            " `slots.spans.parse` gives"
            " them; where `last` is before `first` the list is empty.",
            weekly,
            4,
        ),
        Clause("except", "Days that follow `except` do not occur.", with_exceptions, 2),
        Clause(
            "errors",
            "A ValueError is raised for any rule of another form (one space between words, N from 2 to 52 without"
            " leading"
            " zeros, days in order of the week and none twice, a span that `parse` reads, dates that exist, in the form"
            " YYYY-MM-DD, with commas between), and for a `first` or `last` that is not such a date.",
            refuses,
            2.5,
        ),
        Clause(
            "count",
            "`count(rule, first, last)` is the number of occurrences; 240 calls about years 1 to 9980 take less than 6"
            " seconds of processor time together.",
            counts,
            1.5,
        ),
    ),
)
