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
