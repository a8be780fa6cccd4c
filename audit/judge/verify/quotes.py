"""Find a quote in a text: word for word, or in a normal form that ignores white space, Unicode forms and escapes."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

_MARK = r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_ESCAPE = (  # as in JSON; a letter with a mark of its own ends none, so that composed and decomposed spellings agree
    r"\\+(?:u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\"\\/bfnrt])"
    rf"(?!{_MARK})"
)
_UNUSUAL = re.compile(rf"(?:(?:{_ESCAPE}) *|[^ -~]|(?<![!-~]) | (?![!-~])|(?<=[{{}}\[\]:,]) | (?=[{{}}\[\]:,\\]))+")
"""What differs from its normal form, or may: not a single space between words."""
_UNIT = re.compile(rf"{_ESCAPE}|[^!-~]|.", re.DOTALL)
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SPACELESS = frozenset("{}[]:,")
"""Next to these, white space is a matter of how JSON is written."""
_ALIKE = {
    **dict.fromkeys("‘’‚‛′ʼ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－⁃", "-"),
}
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Code points that nothing shows (Unicode's Default_Ignorable_Code_Point)."""
_Piece = tuple[str, int, int]
"""A character of the normal form, and the stretch of the original that it comes from."""


class Stretch(NamedTuple):
    """A piece of a normal form that maps to the original character by character, or as a whole."""

    at: int
    """Where it begins in the normal form."""
    start: int
    """Where it begins in the original."""
    end: int
    """Where it ends in the original."""
    plain: bool
    """Whether its characters correspond one to one."""


@dataclass(frozen=True)
class Normal:
    """The normal form of a text."""

    text: str
    """The form."""
    stretches: tuple[Stretch, ...]
    """Its pieces in order."""

    def original(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the stretch of the original that a part of the form comes from.

        Args:
            start: first character of the part.
            end: behind its last character; the part is not empty.

        Returns:
            Start and end; None when the part begins or ends inside of one character of the original.
        """
        first, last = self._stretch(start), self._stretch(end - 1)
        behind = self._stretch(end) if end < len(self.text) else None
        if (not first.plain and start != first.at) or (behind is last and not last.plain):
            return None
        if behind is not None and unicodedata.combining(self.text[end]):
            return None
        begins = first.start + (start - first.at if first.plain else 0)
        return begins, last.start + end - last.at if last.plain else last.end

    def _stretch(self, position: int) -> Stretch:
        return self.stretches[bisect_right(self.stretches, position, key=lambda stretch: stretch.at) - 1]


def normal_form(text: str) -> Normal:
    r"""Bring a text into the form in which quotes are compared.

    Compatible characters are one (Unicode NFKD, of which NFKC is the composed spelling), upper and lower case are not.
    Escapes as JSON has them stand for their character. Typographic quotation marks and dashes are plain ones. What
    nothing shows is left out. White space of any kind and length is one space; at the ends, and next to ``{}[]:,``,
    there is none.

    >>> normal_form('{"a" :\\n “ﬁne”\u200b, x\u00a0 y').text
    '{"a":"fine",x y'
    """
    parts: list[str] = []
    stretches: list[Stretch] = []
    length = position = 0

    def add(piece: str, start: int, end: int, plain: bool) -> None:
        nonlocal length
        if piece:
            parts.append(piece)
            stretches.append(Stretch(length, start, end, plain))
            length += len(piece)

    for run in _UNUSUAL.finditer(text):
        add(text[position : run.start()], position, run.start(), True)
        before = text[run.start() - 1] if run.start() else " "
        after = text[run.end()] if run.end() < len(text) else " "
        pieces = _spaced(_ordered(_characters(run.group(), run.start())), before, after)
        for piece, start, end in _grouped(pieces):
            add(piece, start, end, False)
        position = run.end()
    add(text[position:], position, len(text), True)
    return Normal("".join(parts), tuple(stretches))


def _characters(run: str, offset: int) -> Iterator[_Piece]:
    for unit in _UNIT.finditer(run):
        start, end = unit.start() + offset, unit.end() + offset
        for character in _folded(_unescaped(unit.group())):
            yield character, start, end


def _unescaped(unit: str) -> str:
    if len(unit) == 1:
        return unit
    name = unit.lstrip("\\")
    if not name.startswith("u"):
        return _CONTROL.get(name, name or "\\")
    codes = [int(code, 16) for code in re.findall(r"u([0-9a-fA-F]{4})", name)]
    return b"".join(code.to_bytes(2, "big") for code in codes).decode("utf-16-be", errors="replace")


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    kept = _IGNORABLE.sub("", character)
    return _IGNORABLE.sub("", "".join(_ALIKE.get(c, c) for c in unicodedata.normalize("NFKD", _ALIKE.get(kept, kept))))


def _ordered(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Bring combining marks into Unicode's order."""
    marks: list[_Piece] = []
    for piece in pieces:
        if unicodedata.combining(piece[0]):
            marks.append(piece)
            continue
        yield from sorted(marks, key=lambda mark: unicodedata.combining(mark[0]))
        marks.clear()
        yield piece
    yield from sorted(marks, key=lambda mark: unicodedata.combining(mark[0]))


def _spaced(pieces: Iterator[_Piece], before: str, after: str) -> Iterator[_Piece]:
    """Keep one space of each run of white space, and none at an end of the text or next to punctuation of JSON."""
    space: _Piece | None = None
    for piece in (*pieces, (after, 0, 0)):
        if piece[0].isspace() and piece[2]:
            space = space or (" ", *piece[1:])
            continue
        if space and not {before, piece[0]} & {*_SPACELESS, " "}:
            yield space
        if piece[2]:
            yield piece
        space, before = None, piece[0]


def _grouped(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Join characters that come from one, or whose order was changed."""
    held: _Piece | None = None
    for piece in pieces:
        if held and piece[1] < held[2]:
            held = (held[0] + piece[0], min(held[1], piece[1]), max(held[2], piece[2]))
            continue
        if held:
            yield held
        held = piece
    if held:
        yield held


FEWEST = 2
"""Letters and digits that a quote needs at least to prove anything."""
LONGEST = 20_000
"""Characters that a quote has at most; a longer one is a copy, not a quote."""
_MARKS = ("'", '"', "`")


class SearchedText:
    """A text in which quotes are searched; its normal form is made once, when the first quote needs it."""

    def __init__(self, text: str) -> None:
        """Store the text."""
        self._text = text

    @cached_property
    def _normal(self) -> Normal:
        return normal_form(self._text)

    def find(self, quote: str) -> str | None:
        """Return the words of the text that a quote stands for; see `locate`."""
        if not proves(quote):
            return None
        if quote in self._text:
            return quote
        wanted = _wanted(quote)
        return self._find_normal(wanted) or self._find_normal(_without_marks(wanted))

    def _find_normal(self, wanted: str) -> str | None:
        start = self._normal.text.find(wanted) if wanted else -1
        while start >= 0:
            place = self._normal.original(start, start + len(wanted))
            if place:
                return self._text[slice(*place)]
            start = self._normal.text.find(wanted, start + 1)
        return None


def locate(quote: str, text: str) -> str | None:
    r"""Find a quote in a text.

    First as it is; then by the normal form (`normal_form`) of both; then without quotation marks around it that are not
    of the text. A quote with fewer than two letters and digits, or of more than 20,000 characters, is found nowhere.

    Args:
        quote: the words.
        text: where they may occur. Time grows with its length only.

    Returns:
        The exact words of the text, equal to ``quote`` when it occurs there unchanged; None when it does not.

    >>> locate('"fare":  “low”', '{"class": "economy", "fare": "low"}')
    '"fare": "low"'
    >>> locate("to Rome\nby train", r'"A trip to Rome\nby train."')
    'to Rome\\nby train'
    """
    return SearchedText(text).find(quote)


def proves(quote: str) -> bool:
    """Tell whether a quote has enough letters and digits to prove anything, and is not a copy of a whole document."""
    return len(quote) <= LONGEST and sum(character.isalnum() for character in quote) >= FEWEST


@lru_cache(maxsize=8)
def _wanted(quote: str) -> str:
    return normal_form(quote).text


def _without_marks(quote: str) -> str:
    """Remove one pair of quotation marks around a quote."""
    inner = quote[1:-1]
    enclosed = len(quote) > 2 and quote[0] == quote[-1] and quote[0] in _MARKS and quote[0] not in inner
    return inner.strip() if enclosed else ""
