"""Members of a list in a request that no call gives, where the calls give their neighbours."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.labelled_values import Place
from agenthard.audit.detectors.support.left_over_texts import Phrase, has_form, phrases
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement
from agenthard.audit.detectors.support.text import EMPTY_WORDS, squash, words

_OPEN, _CLOSE = "[\"'“‘「《]", "[\"'”’」》]"
_AND = r"(?:,? and (?:also |the |for |in |of |to )?|、|和|以及|及|与| & )"
_NAME = r"[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3}"
_QUOTED = rf"{_OPEN}([^\"'“”‘’「」《》\n]{{2,50}}){_CLOSE}"
_BARE = rf"{_OPEN}[^\"'“”‘’「」《》\n]{{2,50}}{_CLOSE}"
_WORD = r"(?:(?!的)[\u4e00-\u9fff]){2,6}?(?=[、，。；和与及的]|以及|$)"
_OTHER = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|i|i'm|i'd|i've|i'll|ok|please|also|then|what|how|can|could)s?",
    re.IGNORECASE,
)
_PLACED = r" (?:in|at|of|listed|from|by) "
"""What makes a name one of another kind: the museum in Paris is not a city."""
_FIRM = re.compile(r"\b(?:inc|corp|corporation|company|ltd|group|museum|university)\b", re.IGNORECASE)
_LONGEST = 60


def unlisted(spoken: Spoken, own: Sequence[Place], turn: int) -> Iterator[tuple[Place, Phrase]]:
    """Yield a text of the calls, and the member of its list in the request that no call gives.

    Args:
        spoken: what the user states.
        own: the values of one parameter in all calls and objects of the turn.
        turn: the turn.
    """
    if not spoken.is_scripted:
        return
    given = {text: place for place in own if not place.value.omissible for _, text in place.value.strings()}
    found: dict[str, tuple[Place, Phrase]] = {}
    for at, text in spoken.scope(turn):
        for one, place in given.items():
            for other in _neighbours(text, one, place.value.at[-1].isdigit()) if len(one) <= _LONGEST else ():
                if not _is_used(spoken, other):
                    found.setdefault(squash(other), (place, Phrase(at, other, "name")))
            for other in _alike(spoken, turn, at, text, one):
                found.setdefault(squash(other), (place, Phrase(at, other, "name")))
        for members in _lists(text):
            members[0] = next((one for one in given if members[0].endswith(one)), members[0])
            known = [member for member in members if member in given]
            free = [member for member in members if not _is_used(spoken, member)]
            if len(free) == 1 and len(known) == len(members) - 1 > 0:
                found.setdefault(squash(free[0]), (given[known[0]], Phrase(at, free[0], "name")))
    yield from found.values()


def _alike(spoken: Spoken, turn: int, at: str, text: str, given: str) -> Iterator[str]:
    """Yield the names and codes that no call gives, after the same two words as a value: "the city of Oslo"."""
    own = {_lead(text[: match.start()]) for match in re.finditer(re.escape(given), text)} - {""}
    if not own or not (given[:1].isupper() or given[-1:].isdigit()):
        return
    for phrase in phrases(spoken, turn):
        if squash(phrase.text).startswith(squash(given)[:3]):
            continue  # its plural
        if phrase.at == at and has_form(phrase.text, given) and not _is_used(spoken, phrase.text):
            starts = [match.start() for match in re.finditer(re.escape(phrase.text), text)]
            if starts and all(_lead(text[:start]) in own for start in starts):
                yield phrase.text


def _lead(before: str) -> str:
    """Return the two words right before a value, where nothing but spaces and quotation marks is between."""
    match = re.search(r"([A-Za-z]+ [A-Za-z]+|[\u4e00-\u9fff]{2}) ?[\"'“‘「]?$", before)
    return match[1].casefold() if match else ""


def _lists(text: str) -> Iterator[list[str]]:
    """Yield the members of lists of three or more, in quotation marks, with capitals, or in Chinese."""
    for item in (_QUOTED, rf"({_NAME})"):
        bare = item.replace("(", "(?:", 1) if item is not _QUOTED else _BARE
        for match in re.finditer(rf"(?<![\w'’]){bare}(?:, {bare})+,? and {bare}(?![\w'’-]| [a-z]+ing\b)", text):
            yield [one for one in re.findall(item, match[0].replace(" and ", ", ").replace(",,", ",")) if one]
    for match in re.finditer(r"[\u4e00-\u9fff]{2,6}(?:、[\u4e00-\u9fff]{2,6})+(?:和|以及)[\u4e00-\u9fff]{2,6}", text):
        yield re.split(r"、|和|以及", match[0])


class Run(NamedTuple):
    """Numbers that follow each other in a request and that no call gives."""

    at: str
    """JSON Pointer of the text."""
    text: str
    """From the first to the last."""


def unanswered_run(spoken: Spoken, turn: int) -> Run | None:
    """Return two or more numbers in a row that no call gives, each with a unit or a sign that given numbers have too.

    "5% of $1000, 7% of $2000" with one call leaves a share and an amount.
    """
    if not spoken.is_scripted:
        return None
    free = {(one.at, one.mention.start) for one in spoken.unused(turn, "number")}
    every = spoken.statements(turn, "number")
    used = {_key(one) for one in every if (one.at, one.mention.start) not in free} - {""}
    run: list[Statement] = []
    for one in [*every, None]:
        if one is not None and (one.at, one.mention.start) in free and _key(one) in used:
            run.append(one)
            continue
        if len({_key(each) for each in run}) > 1 and len({each.mention.values for each in run}) > 1:
            first, last = run[0], run[-1]
            if first.at == last.at:
                return Run(first.at, first.whole[first.mention.start : last.mention.start + len(last.mention.text)])
        run = []
    return None


def _key(said: Statement) -> str:
    """Return the sign before a number, or the word after it."""
    before = said.whole[: said.mention.start][-1:]
    if before in "$€£¥" and before:
        return before
    after = said.whole[said.mention.start + len(said.mention.text) :]
    if said.mention.text.endswith("%"):
        return "%"
    match = re.match(r"[ -]?([A-Za-z]{2,}|[\u4e00-\u9fff])", after)
    return match[1].casefold().rstrip("s") if match and match[1].casefold() not in EMPTY_WORDS else ""


def _neighbours(text: str, given: str, is_member: bool) -> Iterator[str]:
    """Yield what a text joins to a value, in the same form: in quotation marks, with a capital, in Chinese."""
    for match in re.finditer(re.escape(given), text):
        before, after = text[: match.start()], text[match.end() :]
        if re.search(rf",\s?{_OPEN}?$|、$", before):
            continue  # a list of three or more
        if re.search(rf"{_OPEN}$", before) and re.match(_CLOSE, after):
            if (one := re.match(rf"{_CLOSE}{_AND}{_QUOTED}", after)) is not None:
                yield one[1]
            if (one := re.search(rf"(?<!, ){_QUOTED}{_AND}{_OPEN}$", before)) is not None:
                yield one[1]
        elif given[:1].isupper() and not re.search(r"[A-Za-z0-9_'’-]$", before):
            if (one := re.match(rf"{_AND}({_NAME})(?![A-Za-z0-9_'’]| [A-Z]|{_PLACED})", after)) is not None:
                yield one[1]
            if (one := re.search(rf"(?<![.!?,A-Za-z0-9_'’-])(?<![.!?,] )({_NAME}){_AND}$", before)) is not None:
                yield one[1]
        elif is_member and re.fullmatch(r"[a-z]{3,}", given):
            if (
                one := re.match(r" and ([a-z]{3,})(?=[.,;?!]|$| (?:for|in|to|on|with|from|at|using|as|by)\b)", after)
            ) is not None:
                yield one[1]
            if (
                one := re.search(r"(?:in|of|for|with|include|including|are|like|both|:) ([a-z]{3,}) and $", before)
            ) is not None:
                yield one[1]
        elif (
            re.fullmatch(r"[\u4e00-\u9fff]{2,6}", given)
            and (one := re.match(rf"(?:、|和)({_WORD})", after)) is not None
        ):
            yield one[1]


def _is_used(spoken: Spoken, text: str) -> bool:
    bare = squash(text)
    if len(bare) < 2 or bare in spoken.given_text or bare in spoken.answered or _OTHER.fullmatch(text):
        return True
    if re.search(r"[A-Za-z]", text) and re.search(r"[\u4e00-\u9fff]", text):
        return True  # several things in a text without spaces
    if _FIRM.search(text):
        return True  # which calls may name by its place or its ticker
    parts = [squash(word) for word in words(text) if word not in EMPTY_WORDS]
    if not parts or any(len(part) > 2 and part[:5] in spoken.given_text for part in parts):
        return True
    if any(m.kind != "number" for m in mentions(text)) or text.strip(".").isupper():
        return True
    return all("\u4e00" <= char <= "\u9fff" for char in bare) and any(
        bare[i : i + 2] in spoken.given_text for i in range(len(bare) - 1)
    )
