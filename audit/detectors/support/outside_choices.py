"""What a request says for an argument and no call gives: outside of an enum, or instead of a default."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.choice_sets import Place, groups
from agenthard.audit.detectors.support.gold_values import Documented, documented, name_words
from agenthard.audit.detectors.support.left_over_texts import unused_phrases
from agenthard.audit.detectors.support.said_places import Scope, said_at
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement
from agenthard.audit.detectors.support.text import EMPTY_WORDS, squash, words
from agenthard.taxonomy.task import AgentTask

_REACH = 30
_STEM = 5
_FEWEST = 2
"""Words of the documentation around a number that is stated for its parameter."""
_PLACES = frozenset("country city state location region place county jurisdiction".split())
_DEFAULT = re.compile(
    r"\bdefaults?(?: value)?(?: is| to|:)? ?['\"`]?(?P<value>-?[\w.]+(?: [A-Z][\w]*| of)*)", re.IGNORECASE
)
_GENERAL = (
    frozenset("default value number the of for in to is a an be used optional given specified amount type name".split())
    | EMPTY_WORDS
)


class Other(NamedTuple):
    """A value of a call, and what the request says instead."""

    place: Place
    at: str
    """JSON Pointer of the text."""
    text: str


def outside_choices(task: AgentTask, spoken: Spoken, turn: int) -> Iterator[Other]:
    """Yield values from an enum that no text says, where the request says something else for the argument."""
    if not spoken.is_scripted:
        return
    scope = tuple(spoken.scope(turn))
    for (name, _), own in groups(task, turn).items():
        tool = task.tool(name)
        place = documented(tool, own[0].value.at) if tool else None
        listed = place.schema.get("enum") if place else None
        if not isinstance(listed, list) or place is None:
            continue
        unsaid = [each for each in own if not each.value.omissible and not _is_said(each, spoken, turn)]
        if len(unsaid) != 1:
            continue
        numbers = all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in listed)
        others = [each for each in own if each is not unsaid[0]]
        found = (
            _number(spoken, others, listed, scope, turn) if numbers else _quoted(spoken, unsaid[0], listed, scope, turn)
        )
        if found is not None:
            yield Other(unsaid[0], *found)


def _is_said(place: Place, spoken: Spoken, turn: int) -> bool:
    every = tuple(("", text) for text in spoken.texts(turn))
    return bool(said_at(place.value, every))


def _number(
    spoken: Spoken, others: Sequence[Place], listed: list[Any], scope: Scope, turn: int
) -> tuple[str, str] | None:
    """Return the one unused number that is not in an enum and has the unit of another value's number."""
    units = {_next_word(scope[said.text][1], said.end) for other in others for said in said_at(other.value, scope)} - {
        ""
    }
    free = [
        said
        for said in spoken.unused(turn, "number", here=True)
        if said.mention.values.isdisjoint(map(float, listed))
        and _next_word(said.whole, said.mention.start + len(said.mention.text)) in units
    ]
    return (free[0].at, free[0].mention.text) if len(free) == 1 else None


def _next_word(text: str, end: int) -> str:
    match = re.match(r"[ -]?([^\W\d_]+)", text[end : end + _REACH])
    return match[1].lower() if match else ""


def _quoted(spoken: Spoken, place: Place, listed: list[Any], scope: Scope, turn: int) -> tuple[str, str] | None:
    """Return the one unused phrase right next to the name of an argument."""
    own = [word for word in name_words(place.value.member) if word not in _GENERAL]
    if not own or sum(map(len, own)) < _STEM - 1:
        return None
    name = r"[ _-]".join(rf"{re.escape(word)}s?" for word in own)
    known = {squash(str(item)) for item in listed}
    found = {
        (phrase.at, phrase.text)
        for phrase in unused_phrases(spoken, turn)
        for at, text in scope
        if at == phrase.at
        and re.search(
            rf"['\"“‘]{re.escape(phrase.text)}['\"”’] {name}\b"
            rf"|\b{name}(?: (?:of|is|as|to|set to))?[:=]? ?['\"“‘]?{re.escape(phrase.text)}\b",
            text,
            re.IGNORECASE,
        )
    }
    bare = [squash(text) for _, text in found]
    if len(found) != 1 or any(text in item or item in text for text in bare for item in known):
        return None
    return found.pop()


def missed_defaults(task: AgentTask, spoken: Spoken, turn: int) -> Iterator[Other]:
    """Yield values of which only the default is accepted, where the request states another in words of its own."""
    if not spoken.is_scripted:
        return
    for (name, _), own in groups(task, turn).items():
        tool = task.tool(name)
        place = documented(tool, own[0].value.at) if tool else None
        if place is None or not place.optional or not all(_is_default(each, place) for each in own):
            continue
        item = own[0].value.accepted[0][1]
        if any(_is_said(each, spoken, turn) for each in own) or isinstance(item, bool):
            continue
        found = (
            _stated_number(spoken, own[0], place, turn)
            if isinstance(item, (int, float))
            else _place(spoken, own[0], turn)
        )
        if found is not None:
            yield Other(own[0], *found)


def _is_default(place: Place, schema: Documented) -> bool:
    stated, description = schema.schema.get("default"), schema.schema.get("description")
    if stated is None and isinstance(description, str) and (match := _DEFAULT.search(description)):
        stated = match["value"].rstrip(".")
    given = [item for _, item in place.value.accepted]
    return stated is not None and len(given) == 1 and (stated == given[0] or str(stated) == f"{given[0]}")


def _stated_number(spoken: Spoken, place: Place, schema: Documented, turn: int) -> tuple[str, str] | None:
    description = schema.schema.get("description")
    own = {word[:_STEM] for word in (*words(str(description)), *name_words(place.value.member)) if word not in _GENERAL}
    free = [said for said in spoken.unused(turn, "number", here=True) if len(_around(said) & own) >= _FEWEST]
    return (free[0].at, free[0].mention.text) if len({said.mention.values for said in free}) == 1 else None


def _around(said: Statement) -> set[str]:
    """Return the beginnings of the words before and after a number."""
    end = said.mention.start + len(said.mention.text)
    before = re.split(r"[.;!?\n]", said.whole[max(0, said.mention.start - _REACH) : said.mention.start])[-1]
    after = re.split(r"[.,;!?\n]", said.whole[end : end + _REACH])[0]
    return {
        word[:_STEM] for word in (*words(before)[-4:], *words(after)[:3]) if word not in _GENERAL and not word.isdigit()
    }


def _place(spoken: Spoken, place: Place, turn: int) -> tuple[str, str] | None:
    """Return the one name that nothing uses and that comes after "in", for an argument that is a place."""
    if not _PLACES & set(name_words(place.value.member)):
        return None
    free = [
        phrase
        for phrase in unused_phrases(spoken, turn)
        for at, text in spoken.scope(turn)
        if phrase.kind == "name"
        and at == phrase.at
        and re.search(rf"\b(?:in|for|of|from) {re.escape(phrase.text)}\b", text)
    ]
    return (free[0].at, free[0].text) if len(free) == 1 else None
