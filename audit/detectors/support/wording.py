"""Comparing texts loosely: what a careful reader would call the same words."""

import re
import unicodedata

_NOT_WORD = re.compile(r"[\W_]+")


def squash(text: str) -> str:
    """Reduce a text to its letters and digits: no case, accents, spaces or punctuation, in any script.

    >>> squash("San Francisco, CA"), squash("Café_no. 7"), squash("임진왜란 1592")
    ('sanfranciscoca', 'cafeno7', '임진왜란1592')
    """
    if not text.isascii():
        bare = "".join(ch for ch in unicodedata.normalize("NFKD", text) if not unicodedata.combining(ch))
        text = unicodedata.normalize("NFC", bare)
    return _NOT_WORD.sub("", text.casefold())


def words(text: str) -> list[str]:
    """Split a text into lower-case words without punctuation.

    >>> words("It's at 10:30, Bob!")
    ['it', 's', 'at', '10', '30', 'bob']
    """
    return [word for word in _NOT_WORD.split(text.casefold()) if word]


_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion "
    "first second third fourth fifth sixth seventh eighth ninth tenth once twice thrice single double triple pair "
    "couple dozen half quarter full maximum minimum max min all every least most lowest highest"
)
_SPANS = "minute hour day night week fortnight month year decade century weekend today tomorrow yesterday"
_QUANTITIES = frozenset(f"{_NUMERALS} {_SPANS} {' '.join(word + 's' for word in _SPANS.split())}".split())


def names_quantity(text: str) -> bool:
    """Tell whether a text holds a digit, a numeral or a word for a span or an extreme. Only English is understood.

    A text with letters of another script counts as naming one, because nothing can be said about it.

    >>> names_quantity("for a week"), names_quantity("at full volume"), names_quantity("play the song")
    (True, True, False)
    """
    return any(ch.isdigit() for ch in text) or not text.isascii() or not _QUANTITIES.isdisjoint(words(text))
