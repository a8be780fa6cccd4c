"""Numbers: another one, and the same one written otherwise."""

import re
from collections.abc import Iterator
from random import Random

from agenthard.audit.execution.mutation.mutant import Change, Place, Truth

_DECIMAL = re.compile(r"\d+\.\d*[1-9]\d*")
_NEGATIVE = re.compile(r"-(?:\d+(?:\.\d+)?)")
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()


def other_number(place: Place, random: Random) -> Iterator[Change]:
    """Add one to a number, and take one far above and one far below: wrong, because they are other numbers."""
    if isinstance(place.value, bool) or not isinstance(place.value, (int, float)) or "enum" in place.schema:
        return
    yield Change("off-by-one", place.value + 1, Truth.WRONG, "it is another number", "field")
    yield Change("far-above", abs(place.value) * 1000 + 777, Truth.WRONG, "it is another number", "field")
    yield Change("far-below", 0 if place.value > 1 else -777, Truth.WRONG, "it is another number", "field")


def as_fraction(place: Place, random: Random) -> Iterator[Change]:
    """Write a whole number as 86.0 where any number is documented: equivalent, JSON makes no difference."""
    value = place.value
    if isinstance(value, int) and not isinstance(value, bool) and place.schema.get("type") == "number":
        why = "the documentation asks for a number, and these are the same one"
        yield Change("whole-number-as-fraction", float(value), Truth.EQUIVALENT, why, "operator")


def lost_mark(place: Place, random: Random) -> Iterator[Change]:
    """Drop the point or the sign of a number given as text: wrong, because it is another number."""
    if not isinstance(place.value, str):
        return
    if _DECIMAL.fullmatch(place.value):
        why = "without its decimal point it is another number"
        yield Change("lost-decimal-point", place.value.replace(".", ""), Truth.WRONG, why, "operator")
    if _NEGATIVE.fullmatch(place.value) and float(place.value) != 0:
        yield Change("lost-sign", place.value[1:], Truth.WRONG, "without its sign it is another number", "operator")


def written_otherwise(text: str) -> Iterator[tuple[str, str]]:
    """Yield a number that a reply has to state as people would also write it, with the name of the operator.

    >>> list(written_otherwise("481.50")), list(written_otherwise("481.5")), list(written_otherwise("10"))
    ([('number-without-last-zero', '481.5')], [('number-with-cents', '481.50')], [('number-in-words', 'ten')])
    >>> list(written_otherwise("#W12")), list(written_otherwise("1.25"))
    ([], [])
    """
    if re.fullmatch(r"\d+\.\d0", text):
        yield "number-without-last-zero", text[:-1]
    elif re.fullmatch(r"\d+\.\d", text):
        yield "number-with-cents", f"{text}0"
    elif text.isdecimal() and text == str(int(text)) and int(text) < len(_WORDS):
        yield "number-in-words", _WORDS[int(text)]
