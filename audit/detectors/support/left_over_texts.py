"""Names, codes and quotations of a request that no call gives, and texts of calls that nothing has: the two sides."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz

from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.labelled_values import Place
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.stated_texts import quotations
from agenthard.audit.detectors.support.text import EMPTY_WORDS, squash, words
from agenthard.audit.execution.replay import Step

_NAME = re.compile(r"(?<![\w'’#@./-])[A-Z][\w'’-]*(?:(?: (?:of|the|de|la) | )[A-Z][\w'’-]*)*(?:, [A-Z]{2}\b)?")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\"“]\s*)$")
_CALENDAR = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|today|tomorrow|ok|okay|yes|no|i|i'm|i'd|i've|i'll|api|id|url|am|pm|ai|english|chinese)s?",
    re.IGNORECASE,
)
_ALIKE = 55.0
"""Similarity, of 100, from which one text may be another spelling of the other."""
_LONGEST = 60
_JOIN = r"(?:, and |, or |, |，|、| and | or |和|以及)"


class Phrase(NamedTuple):
    """Something in a request that has the form of a value: a quotation, a name, a code."""

    at: str
    """JSON Pointer of the text."""
    text: str
    kind: str


def phrases(spoken: Spoken, turn: int) -> list[Phrase]:
    """List what the user says for a turn in the form of a value."""
    found = [Phrase(said.at, said.text, "quotation") for said in quotations(spoken, turn) if len(said.text) <= _LONGEST]
    quoted = " ".join(squash(one.text) for one in found)
    for at, text in spoken.scope(turn):
        if text.lstrip().startswith("{"):
            continue  # a profile
        found += [Phrase(at, m.text, "code") for m in mentions(text) if m.kind == "code"]
        for match in _NAME.finditer(text):
            name = match[0]
            if _SENTENCE.search(text[: match.start()]):
                name = name.partition(" ")[2]  # the first word of a sentence has a capital anyway
            if not name[:1].isupper() or squash(name) in quoted:
                continue
            if not _CALENDAR.fullmatch(name) and not EMPTY_WORDS.issuperset(words(name)):
                found.append(Phrase(at, name, "name"))
    return found


def unused_phrases(spoken: Spoken, turn: int) -> list[Phrase]:
    """List those of them that no call gives, nor any part or other form of them."""
    free = []
    for one in phrases(spoken, turn):
        bare = squash(one.text)
        if len(bare) < 2 or bare in spoken.given_text or bare in spoken.answered or spoken.knowledge.documented(bare):
            continue
        parts = [squash(word) for word in words(one.text) if word not in EMPTY_WORDS]
        if one.kind == "name" and any(len(part) > 2 and part[:5] in spoken.given_text for part in parts):
            continue
        free.append(one)
    return free


def other_text(
    spoken: Spoken, place: Place, others: Sequence[Place], turn: int, before: Sequence[Step]
) -> Phrase | None:
    """Return the one phrase that no call gives, where a call gives the one text that nothing has.

    Args:
        spoken: what the user states.
        place: the value that may have no source.
        others: the other values of the turn.
        turn: the turn.
        before: the replayed calls.
    """
    if not spoken.is_scripted or not _is_sourceless(spoken, place, turn, before):
        return None
    if any(_is_sourceless(spoken, other, turn, before) for other in others):
        return None
    free = {squash(one.text): one for one in unused_phrases(spoken, turn)}
    if len(free) != 1:
        return None
    phrase = next(iter(free.values()))
    texts = [text for _, text in place.value.strings()]
    if phrase.kind == "name" and not any(has_form(phrase.text, text) for text in texts):
        return None
    return None if any(_may_be(phrase.text, text) or _CALENDAR.fullmatch(text) for text in texts) else phrase


def _is_sourceless(spoken: Spoken, place: Place, turn: int, before: Sequence[Step]) -> bool:
    """Tell whether no text, response or documentation has a text, or a word of it."""
    texts = [text for _, text in place.value.strings()]
    if place.value.omissible or not texts or len(texts) != len(place.value.accepted) or len(texts[0]) > _LONGEST:
        return False
    if any(parse_date(text) or not any(char.isalpha() for char in text) for text in texts):
        return False
    seen = squash(" ".join([*spoken.texts(turn), *(step.observation.text for step in before)]))
    return not any(
        _is_known(text, seen) or spoken.knowledge.documented(text) or spoken.knowledge.in_state(text) for text in texts
    )


def _is_known(text: str, seen: str) -> bool:
    return squash(text) in seen or any(len(word) > 2 and word[:4] in seen for word in words(text))


def _may_be(said: str, given: str) -> bool:
    """Tell whether a text may be what is said in another form: initials, a ticker, another spelling or script."""
    one, two = squash(said), squash(given)
    if said.isascii() != given.isascii() or fuzz.partial_ratio(one, two) >= _ALIKE:
        return True
    if (given.isupper() and len(given) <= 5) or (said.isupper() and len(said) <= 5 and given[:1].isupper()):
        return True
    return one[:3] == two[:3]


def repeated_text(spoken: Spoken, own: Sequence[Place], turn: int) -> Iterator[tuple[Place, Phrase]]:
    """Yield the text that a parameter has twice, where the user says it once and another of its kind is left over.

    Args:
        spoken: what the user states.
        own: the values of one parameter in all calls and objects of the turn.
        turn: the turn.
    """
    given = [place.value.strings() for place in own]
    if len(own) < 2 or not all(
        len(texts) == 1 == len(place.value.accepted) for texts, place in zip(given, own, strict=True)
    ):
        return
    counts = Counter(texts[0][1] for texts in given)
    twice = [text for text, count in counts.items() if count == 2]
    if len(twice) != 1 or len(counts) != len(own) - 1:
        return
    text = twice[0]
    said = sum(other.casefold().count(text.casefold()) for _, other in spoken.scope(turn))
    if said > 1 or not spoken.is_scripted:
        return
    alike = [one for one in unused_phrases(spoken, turn) if has_form(one.text, text)]
    free = {squash(one.text): one for one in alike if one.kind != "name" or _is_listed(spoken, turn, one.text, counts)}
    if len(free) == 1:
        last = [place for place, texts in zip(own, given, strict=True) if texts[0][1] == text][-1]
        yield last, next(iter(free.values()))


def has_form(one: str, other: str) -> bool:
    """Tell whether two texts are written alike: digits at the same places, or capitals."""
    forms = [re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", text)) for text in (one, other)]
    if any(char.isdigit() for char in one + other):
        return forms[0] == forms[1]
    return one[:1].isupper() == other[:1].isupper() and one.isascii() == other.isascii()


def _is_listed(spoken: Spoken, turn: int, name: str, members: Iterable[str]) -> bool:
    """Tell whether a name is next to a member of a list in the request."""
    pairs = [(one, other) for member in members for one, other in ((member, name), (name, member))]
    patterns = [rf"{re.escape(one)}{_JOIN}{re.escape(other)}" for one, other in pairs]
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns for _, text in spoken.scope(turn))
