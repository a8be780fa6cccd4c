"""Numbers as they stand in texts and values."""

import re
from collections.abc import Iterator
from typing import Any

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
