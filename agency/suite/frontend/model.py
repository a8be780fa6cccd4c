"""What the board has to show: for the grader only."""

import random
from typing import Any

Departure = dict[str, Any]
COLUMNS = ("Time", "Line", "To", "Platform", "Status")
PLACES = ("Harrow Quay", "Sill", "Old Mole", "sandgate", "Élan Weir", "Upper Sill", "Quayhead", "<b>Mole</b>", "A & B")


def drawn(seed: int, count: int) -> list[Departure]:
    """Draw departures."""
    draw = random.Random(seed)
    return [
        {
            "id": number,
            "time": f"{draw.choice([0, 9, 10, 23]):02}:{draw.choice([0, 5, 30, 58, 59]):02}",
            "line": draw.choice(["A", "B2", "B10", "N", "a"]),
            "to": draw.choice(PLACES),
            "platform": draw.choice(["1", "2", "10", "3a"]),
            "delay": draw.choice([0, 0, 1, 2, 7, 61, None]),
        }
        for number in draw.sample(range(1, 200), count)
    ]


def in_order(departures: list[Departure]) -> list[Departure]:
    """Sort departures by time, then id."""
    return sorted(departures, key=lambda each: (each["time"], each["id"]))


def later(time: str, delay: int) -> str:
    """Add minutes to a time of day."""
    minutes = (int(time[:2]) * 60 + int(time[3:]) + delay) % 1440
    return f"{minutes // 60:02}:{minutes % 60:02}"


def status(each: Departure) -> str:
    """Return the words for a delay."""
    if each["delay"] is None:
        return "Cancelled"
    return f"Delayed {each['delay']} min" if each["delay"] else "On time"


def cells(each: Departure) -> list[str]:
    """Return what a row says."""
    time = f"{each['time']} → {later(each['time'], each['delay'])}" if each["delay"] else each["time"]
    return [time, each["line"], each["to"], each["platform"], status(each)]


def rows(departures: list[Departure]) -> list[list[str]]:
    """Return what all rows say."""
    return [cells(each) for each in departures] or [["No departures"]]


def selected(departures: list[Departure], line: str, text: str) -> list[Departure]:
    """Return the departures that are asked for, in order."""
    wanted = text.strip().lower()
    return [each for each in in_order(departures) if line in ("", each["line"]) and wanted in str(each["to"]).lower()]


def ordered(departures: list[Departure], column: int, *, down: bool) -> list[Departure]:
    """Sort departures by a column; equal ones stay in order of time and id."""
    keys = ("time", "line", "to", "platform")
    found = in_order(departures)
    if column < 4:
        return sorted(found, key=lambda each: str(each[keys[column]]), reverse=down)
    return sorted(found, key=_worst, reverse=down)


def _worst(each: Departure) -> int:
    return 10**6 if each["delay"] is None else int(each["delay"])
