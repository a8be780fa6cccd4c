"""Switches, true or false, that a user names: "with a garage", "no subscription", "Subscription: No"."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, name_words
from agenthard.audit.detectors.support.labelled_values import Place
from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.task_texts import sentence_at

_PLAIN = frozenset(
    "is has have include includes included including enable enabled use with get show allow allowed need needs needed"
    " should require required requires want flag add the of for to do and a on in only status mode"
    " option apply set".split()
)
_INVERSE = frozenset(
    "no not without disable disabled exclude excluded skip omit ignore hide non un avoid never".split()
)
_NO = re.compile(
    r"\b(?:no(?!\.? \d)|not|n't|without|never|neither|nor|skip|exclud\w+|omit\w*"
    r"|disabl\w+|avoid\w*|except|rather than|instead of|un\w+|cannot|few|little|hardly|lacks?)\b|n't\b"
    r"|n’t\b|不|无|没|别|免|关闭|取消",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(?:if|when|whether|or|maybe|perhaps|unless|either|prefer\w*)\b|是否|如果|或", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;，；。]|\b(?:and|but)\b")
_REACH = 40
_STEM = 5
_FEWEST_WORDS = 2


class Named(NamedTuple):
    """Where a user names a switch."""

    at: str
    """JSON Pointer of the text."""
    text: str
    """The sentence."""
    value: bool


def contradicted_switch(
    spoken: Spoken, own: Sequence[Place], turn: int, other: Callable[[], Named | None]
) -> Named | None:
    """Return what the user says of a switch that all calls of a turn set the other way.

    Args:
        spoken: what the user states.
        own: the values of the switch in the calls.
        turn: their turn.
        other: reads what the user says in another language, where the name of the switch is not in it.
    """
    items = [place.value.accepted[0][1] for place in own if len(place.value.accepted) == 1]
    if len(items) < len(own) or any(place.value.omissible for place in own):
        return None
    if not isinstance(items[0], bool) or any(item is not items[0] for item in items):
        return None
    said = stated_switch(spoken, own[0].value, turn) or other()
    return said if said is not None and said.value is not items[0] else None


def stated_switch(spoken: Spoken, value: GoldValue, turn: int) -> Named | None:
    """Return what a user says of a switch, where all sentences that name it say the same; None where none does.

    Args:
        spoken: what the user states.
        value: the switch in a gold call.
        turn: its turn.
    """
    parts = name_words(value.member)
    core = [word for word in parts if word not in _PLAIN]
    if not core or _INVERSE & set(parts) or sum(map(len, core)) < _STEM or core[0].startswith("un"):
        return None
    found = list(_named(spoken, core, turn))
    return found[0] if found and len({one.value for one in found}) == 1 else None


def _named(spoken: Spoken, core: list[str], turn: int) -> Iterator[Named]:
    gap = r"[\s_/+-]{1,3}(?:\w+\W{1,2}){0,1}?"
    name = gap.join(rf"\b{re.escape(word[: max(_STEM, len(word) - 3)])}\w{{0,4}}" for word in core)
    for at, text in spoken.scope(turn):
        for match in re.finditer(rf"{name}\W{{0,3}}[:=|]\W{{0,3}}(yes|no|true|false)\b(?! \w)", text, re.IGNORECASE):
            yield Named(at, match[0], match[1].lower() in ("yes", "true"))
            return
        if not spoken.is_scripted and len(core) < _FEWEST_WORDS:
            continue  # instructions tell much else
        for match in re.finditer(name, text, re.IGNORECASE):
            sentence = sentence_at(text, match.start())
            before = _CLAUSE.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
            if _OPEN.search(sentence):
                continue
            yield Named(at, sentence, _NO.search(before) is None)
