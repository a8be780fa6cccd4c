import datetime
import re

from slots.spans import parse

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
RULE = r"every (week|([2-9]|[1-4][0-9]|5[0-2]) weeks) on ([A-Z,]+) ([^ ]+)( except ([0-9,-]+))?"


def read_date(text):
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        raise ValueError(text)
    return datetime.date.fromisoformat(text)


def read(rule):
    match = re.fullmatch(RULE, rule)
    if not match:
        raise ValueError(rule)
    weeks, days = int(match[2] or 1), match[3].split(",")
    gone = {read_date(each) for each in match[6].split(",")} if match[5] else set()
    return weeks, [DAYS.index(day) for day in days], parse(match[4]), gone


def occurrences(rule, first, last):
    weeks, days, span, gone = read(rule)
    since, until = read_date(first), read_date(last)
    monday = since.toordinal() - since.weekday()
    found = []
    for week in range(monday, until.toordinal() + 1, 7 * weeks):
        for day in days:
            if since.toordinal() <= week + day <= until.toordinal():
                date = datetime.date.fromordinal(week + day)
                if date not in gone:
                    found.append((date.isoformat(), *span))
    return found


def _count(rule, first, last):
    weeks, days, _, gone = read(rule)
    since, until = read_date(first).toordinal(), read_date(last).toordinal()
    monday = since - read_date(first).weekday()
    total = 0
    for day in days:
        begin = monday + day
        while begin < since:
            begin += 7 * weeks
        dates = range(begin, until + 1, 7 * weeks)
        total += len(dates) - sum(date.toordinal() in dates for date in gone)
    return total
