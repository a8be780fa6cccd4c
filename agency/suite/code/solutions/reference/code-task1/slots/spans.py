"""Spans of minutes: pairs (begin, end) of integers with begin < end, the end excluded. Lists of spans are sorted."""

import re


def parse(text):
    """Read "09:00-10:30" as (540, 630); a span may end at 24:00."""
    match = re.fullmatch(r"([0-9]{2}):([0-5][0-9])-([0-9]{2}):([0-5][0-9])", text)
    if not match:
        raise ValueError(f"not a span: {text}")
    hours, minutes, end_hours, end_minutes = map(int, match.groups())
    begin, end = hours * 60 + minutes, end_hours * 60 + end_minutes
    if not begin < end <= 1440:
        raise ValueError(f"not a span: {text}")
    return begin, end


def show(span):
    """Write (540, 630) as "09:00-10:30"."""
    return "-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in span)


def merge(spans):
    """Join spans that overlap or touch."""
    found = []
    for begin, end in sorted(map(tuple, spans)):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def subtract(spans, others):
    """Return what of some spans is in no other span."""
    found = []
    for begin, end in merge(spans):
        for other_begin, other_end in merge(others):
            if other_end <= begin or other_begin >= end:
                continue
            if other_begin > begin:
                found.append((begin, other_begin))
            begin = other_end
        if begin < end:
            found.append((begin, end))
    return found


def free(spans, day, least):
    """Return the gaps of a day (a span) that no span covers, of at least some minutes."""
    return [gap for gap in subtract([day], spans) if gap[1] - gap[0] >= least]
