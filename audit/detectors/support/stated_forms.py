"""Forms that a user wants of a value: empty, a time of day, a percentage like the others."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.labelled_values import Place
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement

_SHORTEST = 3
_PERCENT = 100.0


class Wanted(NamedTuple):
    """A form that a value does not have."""

    at: str
    """JSON Pointer of the text."""
    text: str
    how: str
    """What is wrong, after "gives X as Y"."""


def other_forms(spoken: Spoken, place: Place, turn: int) -> Iterator[Wanted]:
    """Yield the form that the user wants of a value that has another.

    Args:
        spoken: what the user states.
        place: the value.
        turn: its turn.
    """
    if (empty := _left_empty(spoken, place, turn)) is not None:
        yield Wanted(*empty, "which the user wants left empty")
    if (said := _other_half(spoken, place, turn)) is not None:
        yield Wanted(said.at, said.mention.text, f"but the user says {said.mention.text!r}")


def mixed_percent(spoken: Spoken, own: Sequence[Place], turn: int) -> tuple[Place, Statement] | None:
    """Return the percentage that one call gives as a fraction and the others as it is stated, or the other way."""
    said = [one for one in spoken.statements(turn, "number") if one.mention.text.endswith("%")]
    whole: list[tuple[Place, Statement]] = []
    fraction: list[tuple[Place, Statement]] = []
    for place in own:
        items = [item for _, item in place.value.accepted]
        if place.value.omissible or not all(isinstance(item, (int, float)) and item for item in items):
            return None
        for one in said:
            stated = max(v for v in one.mention.values if isinstance(v, float))
            if stated > 1 and all(item == stated for item in items):
                whole.append((place, one))
            elif stated > 1 and all(abs(item * _PERCENT - stated) < 1e-9 for item in items):
                fraction.append((place, one))
    if not whole or not fraction or len(whole) + len(fraction) != len(own):
        return None
    return whole[0] if len(whole) <= len(fraction) else fraction[0]


def _left_empty(spoken: Spoken, place: Place, turn: int) -> tuple[str, str] | None:
    """Return the pointer and the words by which the user wants a parameter left empty that a call fills."""
    names = [word for word in name_words(place.value.member) if len(word) >= _SHORTEST]
    if not names or not place.value.strings() or len(place.value.strings()) != len(place.value.accepted):
        return None
    name = r"[\s_-]".join(names)
    pattern = (
        rf"(?:\b(?:empty|blank) {name}\b"
        rf"|\b(?:leav\w+|keep\w*|left) (?:the |its |that )?{name}(?: \w+){{0,2}} (?:empty|blank)\b"
        rf"|\b{name}\b[^.;,]{{0,30}}\b(?:as |be |is |left |it )(?:empty|blank)\b)"
    )
    for at, text in spoken.scope(turn):
        if match := re.search(pattern, text, re.IGNORECASE):
            return at, match[0]
    return None


def _other_half(spoken: Spoken, place: Place, turn: int) -> Statement | None:
    """Return the one time of day that the user states, where a call gives it as hhmm in the other half of the day."""
    said = spoken.statements(turn, "time")
    items = [item for _, item in place.value.accepted]
    if len(said) != 1 or "time" not in name_words(place.value.member) or place.value.omissible:
        return None
    minutes = next(float(v) for v in said[0].mention.values)
    stated, other = (int(m // 60 % 24 * 100 + m % 60) for m in (minutes, minutes + 12 * 60))
    numbers = [item for item in items if isinstance(item, int) and not isinstance(item, bool)]
    return said[0] if len(numbers) == len(items) and other in numbers and stated not in numbers else None
