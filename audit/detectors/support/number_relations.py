"""Whether a number follows from others that are at hand: by one operation, or by a change of unit."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.numbers import numbers_said

_FACTORS = (
    (r"minute|hour|second|\bmin\b|\bsec\b|小时|分钟|秒", (60.0, 3600.0, 24.0, 1440.0, 86400.0, 1000.0)),
    (r"day|week|month|quarter|year|fortnight|[天日周月年]", (7.0, 12.0, 30.0, 365.0, 52.0, 24.0, 86400.0, 3.0, 14.0)),
    (r"percent|%|per cent|rate|ratio|cents?\b|centi|\bcm\b|basis", (100.0, 10000.0)),
    (
        r"kilo|\bk[mgb]?\b|\dk[mgb]?\b|gram|milli|\bm[lms]\b|\dm[lms]\b|met(?:er|re)|tons?\b|公里|千米|千克|公斤|吨",
        (1000.0,),
    ),
    (r"\bpi\b|π", (math.pi,)),
    (r"feet|foot|\bft\b|inch|yard", (12.0, 0.3048, 2.54, 0.0254, 30.48, 3.0)),
    (r"mile|\bkm|kilomet|mph|\bmi\b", (1.609344, 0.621371, 1609.344)),
    (r"lit(?:er|re)|gallon|fuel|tank", (3.785412, 0.264172)),
    (r"pound|\blbs?\b|\bkg|kilo|ounce|\boz\b", (0.453592, 2.204623, 16.0, 28.3495)),
    (r"half|halve|twice|double|dozen|triple|pair|couple|both|each|quarter|third", (2.0, 3.0, 4.0, 12.0)),
)
"""Words of units and shares, and what a number next to them may be multiplied with or divided by."""
_NEAR = 1e-4
"""Relative difference up to which a converted number is the same."""
_FIELD = re.compile(r"\"[^\"\n]{1,60}\":")
_SPAN = 7
_DIGITS = re.compile(r"\d+")


def rounds_to(number: float, other: float) -> bool:
    """Tell whether another number is a number, or the number rounded to at most four decimals."""
    return any(abs(round(abs(number), digits) - abs(other)) < 1e-9 for digits in (0, 1, 2, 3, 4)) or is_same(
        number, other
    )


def is_same(one: float, other: float) -> bool:
    """Tell whether two numbers are the same apart from inexact arithmetic and their sign."""
    return abs(abs(one) - abs(other)) <= _NEAR * max(abs(other), 1e-9)


def results(one: float, other: float) -> Iterator[float]:
    """Yield the sum, the difference, the product and the quotients of two numbers."""
    yield from (one + other, one - other, one * other)
    if other:
        yield one / other
    if one:
        yield other / one


def mixed(one: float, other: float, factors: Iterable[float]) -> Iterator[float]:
    """Yield what two numbers are together: 5 feet 10 inches."""
    for factor in factors:
        if factor > 1:
            yield from (one * factor + other, other * factor + one)


@lru_cache(maxsize=64)
def unit_factors(text: str) -> tuple[float, ...]:
    """Return what a text's words for units and shares let a number be multiplied with."""
    found = [factor for words, factors in _FACTORS if re.search(words, text, re.IGNORECASE) for factor in factors]
    return tuple(each for factor in dict.fromkeys(found) for each in (factor, 1 / factor))


def follows(goal: float, said: Iterable[float], near: Iterable[float], text: str) -> bool:
    """Tell whether a number is one that is near, converted, or the result of one operation on a said one and another.

    >>> follows(120, {12, 10}, {12, 10}, "12 rows of 10"), follows(7.93, {30}, {30}, "30 liters in gallons")
    (True, True)
    >>> follows(15, {150}, {150, 457.23}, "150 shares")
    False

    Args:
        goal: the number.
        said: numbers that are said near it.
        near: these, and numbers that were returned near it.
        text: the words around them, with their units.
    """
    decimals = len(f"{goal:.8f}".rstrip("0").partition(".")[2])
    allowed = max(0.5 * 10**-decimals if decimals else 0.0, _NEAR * goal) + 1e-9
    factors = unit_factors(text)
    if any(abs(v * factor - goal) <= allowed for v in near for factor in factors):
        return True
    if any(factor == goal >= _SPAN for factor in factors):
        return True  # a month, an hour
    if any(abs(a * factor + b - goal) <= allowed for a in said for b in said for factor in factors if factor > 1):
        return True  # 5 feet 10 inches, 2 hours and 15 minutes
    return any(
        abs(abs(result) - goal) <= allowed for a in said for b in near if b not in (0, 1) for result in results(a, b)
    )


@lru_cache(maxsize=1024)
def numbers_of(text: str) -> frozenset[float]:
    """Collect all numbers of a text, numerals included."""
    values = {v for m in mentions(text) if m.kind == "number" for v in m.values if isinstance(v, float)}
    return frozenset(values | {abs(v) for v in values} | numbers_said(text))


@lru_cache(maxsize=1024)
def stated_numbers(text: str) -> frozenset[float]:
    """Collect what may be calculated with: digits in numbers, and numerals of more than one."""
    values = {v for m in mentions(text) if m.kind == "number" for v in m.values if isinstance(v, float)}
    return frozenset(values | numbers_said(_DIGITS.sub("", text)) - {0.0, 0.5, 1.0})


@lru_cache(maxsize=1024)
def returned_numbers(text: str) -> frozenset[float]:
    """Collect the numbers of a response, names of fields left out."""
    return stated_numbers(_FIELD.sub(" ", text))
