"""The library that the scenario is about, as its users have it: with faults."""

SPANS = '''\
"""Spans of minutes: pairs (begin, end) of integers with begin < end, the end excluded. Lists of spans are sorted."""

import re


def parse(text):
    """Read "09:00-10:30" as (540, 630); a span may end at 24:00."""
    match = re.match(r"(\\d\\d):(\\d\\d)-(\\d\\d):(\\d\\d)", text)
    if not match:
        raise ValueError(f"not a span: {text}")
    hours, minutes, end_hours, end_minutes = map(int, match.groups())
    begin, end = hours * 60 + minutes, end_hours * 60 + end_minutes
    if begin >= end:
        raise ValueError(f"not a span: {text}")
    return begin, end


def show(span):
    """Write (540, 630) as "09:00-10:30"."""
    return "-".join(f"{minute // 60}:{minute % 60:02}" for minute in span)


def merge(spans):
    """Join spans that overlap or touch."""
    found = []
    for begin, end in spans:
        if found and begin < found[-1][1]:
            found[-1] = found[-1][0], end
        else:
            found.append((begin, end))
    return found


def subtract(spans, others):
    """Return what of some spans is in no other span."""
    found = []
    for begin, end in merge(spans):
        for other_begin, other_end in others:
            if other_end <= begin or other_begin >= end:
                continue
            if other_begin > begin:
                found.append((begin, other_begin))
            begin = other_end
        found.append((begin, end))
    return found


def free(spans, day, least):
    """Return the gaps of a day (a span) that no span covers, of at least some minutes."""
    return [gap for gap in subtract([day], spans) if gap[1] - gap[0] > least]
'''
REPORTS = """\
# Reports of users

1. `parse` takes "09:00-10:30x" and "25:00-26:00" and "09:60-10:00". It should refuse what is not a span of one day.
   "23:00-24:00" is right, "23:00-24:01" and "24:00-24:00" are not. One of us pasted "09:00-10:30" with a line break.
2. `show` wrote "9:00-10:30". `parse` cannot even read that.
3. `merge` loses time: [(0, 100), (10, 20)] gives [(0, 20)]. Touching spans stay apart. The order in which I pass spans
   should not matter. Spans may be lists, the result has tuples.
4. `subtract` gives spans that are empty, or end before they begin, when something covers the end. It also wants the
   others in order, and it should not.
5. `free` with `least=30` leaves out gaps of exactly 30 minutes.
6. After `merge(spans)` or `subtract(spans, others)`, my own lists should be as they were.
"""
README = """\
# slots

A small library for calendars: `slots/spans.py`. Python 3.11, standard library only. `REPORTS.md` lists what users
found. `python3 -m unittest` runs the tests in `tests/`.
"""
TESTS = """\
import unittest

from slots.spans import free, merge, parse, show, subtract


class SpansTest(unittest.TestCase):
    def test_reading(self):
        self.assertEqual(parse("09:00-10:30"), (540, 630))

    def test_writing(self):
        self.assertEqual(show((600, 1440)), "10:00-24:00")

    def test_merging(self):
        self.assertEqual(merge([(0, 10), (5, 20), (30, 40)]), [(0, 20), (30, 40)])

    def test_subtracting(self):
        self.assertEqual(subtract([(0, 100)], [(10, 20)]), [(0, 10), (20, 100)])

    def test_gaps(self):
        self.assertEqual(free([(10, 20)], (0, 100), 15), [(20, 100)])
"""
SEED = {
    "README.md": README,
    "REPORTS.md": REPORTS,
    "slots/__init__.py": '"""Time slots."""\n',
    "slots/spans.py": SPANS,
    "tests/__init__.py": "",
    "tests/test_spans.py": TESTS,
}
