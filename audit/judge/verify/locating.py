"""Finding a quote again: word for word, or but for space, Unicode forms and escapes."""

from functools import cached_property, lru_cache

from agenthard.audit.judge.verify.normal_form import Normal, normal_form

FEWEST = 2
"""Letters and digits that a quote needs at least to prove anything."""
LONGEST = 20_000
"""Characters that a quote has at most; a longer one is no quote but a copy."""
_MARKS = ("'", '"', "`")


class SearchedText:
    """A text in which quotes are searched; its normal form is made once, when the first quote needs it."""

    def __init__(self, text: str) -> None:
        """Take the text."""
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
        text: where they may stand. Time grows with its length only.

    Returns:
        The exact words of the text, equal to ``quote`` when it stands there as it is; None when it does not.

    >>> locate('"fare":  “low”', '{"class": "economy", "fare": "low"}')
    '"fare": "low"'
    >>> locate("to Rome\nby train", r'"A trip to Rome\nby train."')
    'to Rome\\nby train'
    """
    return SearchedText(text).find(quote)


def proves(quote: str) -> bool:
    """Tell whether a quote has enough letters and digits to prove anything, and is no copy of a whole document."""
    return len(quote) <= LONGEST and sum(character.isalnum() for character in quote) >= FEWEST


@lru_cache(maxsize=8)
def _wanted(quote: str) -> str:
    return normal_form(quote).text


def _without_marks(quote: str) -> str:
    """Take one pair of quotation marks away that encloses a quote."""
    inner = quote[1:-1]
    enclosed = len(quote) > 2 and quote[0] == quote[-1] and quote[0] in _MARKS and quote[0] not in inner
    return inner.strip() if enclosed else ""
