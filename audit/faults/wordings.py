"""How flaws are worded: sentences from ``wordings.yaml``, and slips of typing."""

import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from random import Random
from typing import Any

from agenthard.taxonomy.yaml_text import load_own_yaml

_MARK = re.compile("«(\\w+)»")


@cache
def wordings(name: str) -> tuple[str, ...]:
    """Return all wordings of an operator.

    Raises:
        KeyError: there are none of that name.
    """
    return _all()[name]


@cache
def _all() -> dict[str, tuple[str, ...]]:
    written = load_own_yaml(
        resources.files("agenthard.audit.faults").joinpath("wordings.yaml").read_text(encoding="utf-8")
    )
    return {name: tuple(map(str, entries)) for name, entries in written.items()}


def filled(wording: str, /, **values: Any) -> str:
    """Put values in the places of the marks of a wording."""
    return _MARK.sub(lambda mark: str(values[mark[1]]), wording)


def draw_wording(operator: str, rng: Random, /, **values: Any) -> str:
    """Draw one of the wordings of an operator and fill it in.

    Args:
        operator: its id.
        rng: source of chance.
        values: what replaces the marks.
    """
    return filled(rng.choice(wordings(operator)), **values)


def placed(text: str, addition: str, rng: Random) -> str:
    """Put an addition into a text: before it, after it, as a paragraph, or between two of its paragraphs."""
    text, paragraphs = text.strip(), text.strip().split("\n\n")
    places = [f"{text} {addition}", f"{text}\n\n{addition}", f"{addition}\n\n{text}", f"{addition} {text}"]
    if "\n" in addition:
        places = places[1:3]  # an addition of several lines goes on lines of its own
    if len(paragraphs) > 2:
        at = rng.randrange(1, len(paragraphs))
        places.append("\n\n".join((*paragraphs[:at], addition, *paragraphs[at:])))
    return rng.choice(places).strip()


_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _ROWS for at, key in enumerate(row)}
_ALIKE = {
    "0": "Oo", "O": "0\u041e", "1": "lI", "l": "1I", "I": "l1", "5": "S", "S": "5", "8": "B", "B": "8\u0412", "2": "Z",
    "Z": "2", "6": "G", "A": "\u0410", "C": "\u0421", "E": "\u0415", "H": "\u041d", "K": "\u041a", "M": "\u041c",
    "P": "\u0420", "T": "\u0422", "a": "\u0430", "e": "\u0435", "o": "0\u043e", "-": "\u2013\u2010\u2011",
}  # fmt: skip
"""Characters that are taken for one another: letters and digits, Latin and Cyrillic, hyphens and dashes."""
_UNSEEN = ("\u200b", "\u00ad", "\ufeff")


def lost(text: str, at: int, rng: Random) -> str:
    """Lose a character."""
    return text[:at] + text[at + 1 :]


def doubled(text: str, at: int, rng: Random) -> str:
    """Double a character."""
    return text[: at + 1] + text[at:]


def exchanged(text: str, at: int, rng: Random) -> str:
    """Exchange a character with the one after it."""
    return text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :]


def adjacent_key(text: str, at: int, rng: Random) -> str:
    """Hit the key next to the right one."""
    key = rng.choice(_NEIGHBOURS.get(text[at].lower(), text[at]))
    return text[:at] + (key.upper() if text[at].isupper() else key) + text[at + 1 :]


def inserted(text: str, at: int, rng: Random) -> str:
    """Hit the key next to the right one as well."""
    return text[: at + 1] + adjacent_key(text, at, rng)[at] + text[at + 1 :]


WAYS: tuple[Callable[[str, int, Random], str], ...] = (lost, doubled, exchanged, adjacent_key, inserted)


def misspell(text: str, rng: Random) -> str:
    """Make one slip inside a text, at a letter or digit that is neither its first character nor its last.

    Args:
        text: what was meant.
        rng: source of chance.

    Returns:
        What was typed; the text itself where there is nothing to slip on.
    """
    places = [at for at in range(1, len(text) - 2) if text[at].isalnum() and text[at + 1].isalnum()]
    return rng.choice(WAYS)(text, rng.choice(places), rng) if places else text


def looking_alike(text: str, rng: Random) -> str:
    """Put a character that looks like the right one into a text, or an invisible one."""
    places = [at for at, character in enumerate(text) if at and character in _ALIKE]
    if not places or rng.random() < 0.2:
        at = rng.randrange(1, len(text) + 1)
        return text[:at] + rng.choice(_UNSEEN) + text[at:]
    at = rng.choice(places)
    return text[:at] + rng.choice(_ALIKE[text[at]]) + text[at + 1 :]


def means_the_same(one: str, other: str) -> bool:
    """Tell whether two texts differ in zeros only that change no number: 2025-3-17 and 2025-03-17, 4.90 and 4.900."""
    texts = [re.sub(r"(\.\d*?)0+(?!\d)", r"\1", re.sub(r"(?<![\d.])0+(?=\d)", "", each)) for each in (one, other)]
    return texts[0] == texts[1]
