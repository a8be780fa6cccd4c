"""Numbers in texts and values, and whether one follows from others in a simple calculation."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")


def numbers_in(value: Any) -> list[float]:
    """List the numbers in a text or in a list of texts, thousands separators removed.

    >>> numbers_in("Between $1,380 and $1390.50")
    [1380.0, 1390.5]
    """
    texts = value if isinstance(value, list) else [value]
    return [float(token.replace(",", "")) for text in texts for token in number_tokens(str(text))]


def number_tokens(text: str) -> Iterator[str]:
    """Yield the numbers of a text as they are written."""
    for match in _NUMBER.finditer(text):
        yield match[0]


_NUMBER_SAID = re.compile(r"\d+(?:\.\d+)?")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_WORDS = {
    word: float(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}
_TENS = "thirty forty fifty sixty seventy eighty ninety".split()
_WORDS |= {word: float(10 * tens) for tens, word in enumerate(_TENS, 3)}
_WORDS |= {"a": 1, "an": 1, "half": 0.5, "once": 1, "twice": 2, "couple": 2, "dozen": 12, "pair": 2, "hundred": 100}
_SPANS = {"minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 30, "year": 365, "quarter": 90}
_FACTORS = (1, 2, 7, 12, 16, 24, 30, 52, 60, 90, 100, 365, 1000, 3600, 1440, 10080, 86400, 604800, 1e6, 1e9)
_INEXACT = 1e-6


def numbers_said(text: str) -> set[float]:
    """Collect the numbers of an English text: digits, with or without separators of thousands, and numerals.

    >>> sorted(numbers_said("[200,300] for 1,500 people, two hours"))
    [1.0, 2.0, 200.0, 300.0, 500.0, 1500.0, 200300.0]
    """
    found = {float(token) for token in _NUMBER_SAID.findall(text)}
    found |= {float(token.replace(",", "")) for token in _GROUPED.findall(text)}
    found |= {float(_WORDS[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS}
    return found


def derives(number: float, text: str) -> bool:
    """Tell whether ``number`` is said, or is a sum, difference, product or quotient of two things that are.

    Products with a factor between common units (60, 1000, 24, ...) and lengths of spans ("an hour" in seconds) count.

    >>> derives(3600, "for the next hour"), derives(74, "6 feet 2 inches"), derives(900, "1200 million")
    (True, True, False)
    """
    said = numbers_said(text) | {1.0}
    said |= {float(size) for span, size in _SPANS.items() if span in text.lower()}
    scaled = {a * factor for a in said for factor in _FACTORS} | {a / factor for a in said for factor in _FACTORS}
    goal = abs(number)
    near = goal * _INEXACT + _INEXACT
    first = np.array(list(scaled))
    with np.errstate(all="ignore"):
        steps = (step for b in said for step in (first + b, first - b, first * b, first / b if b else first))
        return any(bool((np.abs(np.abs(values) - goal) <= near).any()) for values in chain([first], steps))
