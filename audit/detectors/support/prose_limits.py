"""Limits, choices and defaults that the prose of a parameter's documentation sets, next to its schema."""

import re
from collections.abc import Sequence
from typing import Any

from agenthard.audit.detectors.support.text import squash

_N = r"-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d.]*\d)"
_NO_UNIT = r"(?!\s?%|\s?[x×*^]\s?\d|\s?10\^|\s?[A-Za-z])"
_MUST = r"\b(?:must be|should be|is)\W+"
_LIMITS = {
    kind: re.compile(rf"{_MUST}(?:{words}) ({_N})(?!\s?%)", re.IGNORECASE)
    for kind, words in {
        "above": "greater than|more than|larger than|higher than|bigger than",
        "least": "at least|no less than|not less than|greater than or equal to",
        "below": "less than|smaller than|lower than|fewer than",
        "most": "at most|no more than|not more than|up to|less than or equal to",
    }.items()
}
_BETWEEN = re.compile(
    rf"\b(?:between|ranges? (?:of|is|from)?|from) ({_N}) ?(?:and|to|-|–) ?({_N})(?!\s?%)", re.IGNORECASE
)
_DEFAULT = re.compile(rf"\bdefaults?(?: value)?(?: is| to|:|=)?\s?['\"]?({_N}){_NO_UNIT}", re.IGNORECASE)
_QUOTED = r"(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"|`[^`\n]{1,40}`|-?\d+(?:\.\d+)?(?![\d.]*\d))"
_CHOICES = re.compile(
    r"\b(?:either|one of|must be|can be|should be|options(?: are|:)?"
    r"|(?:possible|allowed|valid|accepted|available) (?:values|options)(?: are| include|:)?)\s*:?\s*\[?\(?"
    rf"({_QUOTED}(?:(?:\s*,\s*(?:or\s+|and\s+)?|\s+or\s+|\s+and\s+|\s*/\s*){_QUOTED})+)",
    re.IGNORECASE,
)


def broken_limit(prose: str, values: Sequence[Any], omissible: bool) -> str | None:
    """Return the words of a documentation that all accepted values break; None where one keeps to it.

    A number that the documentation names anywhere is one that it provides for, whatever its limits.

    Args:
        prose: the documentation of a parameter.
        values: the values that are accepted.
        omissible: whether leaving the parameter out is accepted too, which means its default.

    >>> broken_limit("The decay factor, must be greater than 1.", [0.5], False)
    'must be greater than 1'
    >>> broken_limit("On a scale from 1 to 5. Use 0 for any.", [0], False) is None
    True
    >>> broken_limit("Can be either 10 or 11.", [1], False), broken_limit("Default is 8.99e-9.", [8.99e9], True)
    ('either 10 or 11', 'Default is 8.99e-9')
    """
    given = [value for value in values if value is not None and value != ""]
    if not given or len(given) < len(values):
        return None
    if (match := _CHOICES.search(prose)) and not any(squash(_plain(value)) in _named(match[1]) for value in given):
        return match[0]
    numbers = [value for value in given if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(given):
        return None
    named = {_number(text) for text in re.findall(_N, prose)}
    if (
        omissible
        and (match := _DEFAULT.search(prose))
        and not any(_close(value, _number(match[1])) for value in numbers)
    ):
        return match[0]
    return None if any(value in named for value in numbers) else _beyond(prose, numbers)


def _beyond(prose: str, numbers: list[float]) -> str | None:
    for kind, pattern in _LIMITS.items():
        for match in pattern.finditer(prose):
            limit = _number(match[1])
            kept = {"above": max(numbers) > limit, "least": max(numbers) >= limit}
            kept |= {"below": min(numbers) < limit, "most": min(numbers) <= limit}
            if not kept[kind]:
                return match[0]
    for match in _BETWEEN.finditer(prose):
        low, high = sorted((_number(match[1]), _number(match[2])))
        if not any(low <= value <= high for value in numbers):
            return match[0]
    return None


def _named(listed: str) -> set[str]:
    return {squash(item.strip("'\"`")) for item in re.findall(_QUOTED, listed)}


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(abs(one), abs(other))
