"""Reads the texts of a room as a careful reader does: signs, values in quotation marks, hints with a parameter."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from agenthard.escape.narrative.themes import CUE_ADJECTIVES, CUE_NOUNS

QUOTED = re.compile(r"«(.*?)»", re.DOTALL)
_SIGN = rf"(?:{'|'.join(CUE_ADJECTIVES)}) (?:{'|'.join(CUE_NOUNS)})"
_CUE = re.compile(rf"\bthe ({_SIGN})\b")
_MARK = re.compile(rf"marked with the ({_SIGN})\.$")
_NAMED = re.compile(r"`([a-z_0-9]+)`")


class Note(NamedTuple):
    """A value with the signs that its sentence names."""

    cues: tuple[str, ...]
    """The signs."""
    value: str
    """The value."""


def notes_in(text: str) -> list[Note]:
    """Return the values that a text tells, each with the signs in its own sentence.

    >>> notes_in("Chalked below the red fox: «12».")
    [Note(cues=('red fox',), value='12')]
    """
    found = []
    start = 0
    for quoted in QUOTED.finditer(text):
        sentence = text[start : quoted.start()].rpartition("\n")[2]
        found.append(Note(tuple(_CUE.findall(sentence)), quoted.group(1)))
        start = quoted.end()
    return found


def hints_in(text: str) -> dict[str, tuple[str, ...]]:
    r"""Return, for each parameter that a text names, the signs in the same sentence.

    >>> hints_in("It multiplies.\nLever `a` is labelled with the red fox.")
    {'a': ('red fox',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for line in QUOTED.sub("«»", text).split("\n"):
        for name in _NAMED.findall(line):
            found[name] = (*found.get(name, ()), *_CUE.findall(line))
    return found


def mark_of(brief: str) -> str:
    """Return the sign that a part bears; empty when it bears none."""
    found = _MARK.search(brief)
    return found.group(1) if found else ""


def cues_of(notes: Iterable[Note]) -> dict[str, list[str]]:
    """Return the values by sign."""
    found: dict[str, list[str]] = {}
    for note in notes:
        for cue in note.cues:
            found.setdefault(cue, []).append(note.value)
    return found
