"""Choices of a parameter that a user names, and that a ground truth makes otherwise."""

import re
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

_LISTED = (
    re.compile(r"\[Enum\]:?\s*\[?([^\].]+)", re.IGNORECASE),
    re.compile(r"\((?:either |e\.g\.,? )?(\w+(?:(?:/|, ?| or |, or |\|)\w+)+)\.?\)"),
    re.compile(r"(?:options are|options:|one of|either|can be)[: ]+\[?([\w'\", ]+)", re.IGNORECASE),
)
"""How documentation lists the choices of a parameter that has no enum."""
_MOST_CHOICES = 40
_SHORTEST = 3
_COMMON = frozenset("first second last next all any other none both yes no default auto new old low high now".split())
"""Choices whose words mean other things as well."""
_SYNONYMS = {"buy": ("purchas", "acqui"), "sell": ("sold", "selling"), "withdrawal": ("take out", "draw")}
"""Beginnings of other words for a choice."""
_LATER = re.compile(r"\s(?:after|once|when|until)\b", re.IGNORECASE)
"""What comes after a choice that is for later: "power off after an hour"."""
_NEGATED = re.compile(
    r"\b(?:not|n't|never|except|exclud(?:e|es|ing)|besides|but|without|instead of|rather than|other than|no|from"
    r"|was|were|if|or)"
    r"\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)


class Named(NamedTuple):
    """A choice that the user names."""

    at: str
    """JSON Pointer of the text."""
    text: str
    """The user's word."""
    choice: str
    """The choice that it means."""


def other_choice(
    task: AgentTask, spoken: Spoken, call: ToolCall, value: GoldValue, schema: Any, turn: int
) -> Named | None:
    """Return the one other choice of a parameter that the user names, where the demanded one is not named.

    Not where another argument of the turn's calls has the choice: it may be what names it.
    """
    texts = value.strings()
    demanded = {text.casefold() for _, text in texts}
    if not texts or len(texts) != len(value.accepted):
        return None
    listed = listed_choices(task, schema, value.member)
    if value.at.rpartition("/")[2].isdigit():
        return None  # one of several
    if not demanded <= {text.casefold() for text in listed} or not 2 <= len(listed) <= _MOST_CHOICES:
        return None
    said = squash(
        " ".join(text for text in spoken.texts(turn) if sum(_names(each, text) is not None for each in listed) < 2)
    )
    said += squash(" ".join(text for _, text in spoken.scope(turn)))
    if any(squash(word) in said for text in demanded for word in (_stem(text), *_SYNONYMS.get(text, ()))):
        return None
    if any(in_parts(text, " ".join(spoken.texts(turn))) for text in demanded):
        return None
    scope = spoken.scope(turn)
    named = [Named(at, hit, choice) for choice in listed for at, text in scope if (hit := _names(choice, text))]
    if len({each.choice.casefold() for each in named}) != 1 or named[0].choice.casefold() in demanded:
        return None
    used = [
        str(item).casefold()
        for other in task.ground_truth.turns[turn]
        for each in gold_values(other.arguments)
        for _, item in each.accepted
        if each.member != value.member or (other is call and each is not value)
    ]
    stem = _stem(named[0].choice)
    siblings = [
        {str(item).casefold() for _, item in each.accepted}
        for other in task.ground_truth.turns[turn]
        for each in gold_values(other.arguments)
        if other.name == call.name and other is not call and each.member == value.member
    ]
    if any(named[0].choice.casefold() in each for each in siblings) and not all(
        named[0].choice.casefold() in each for each in siblings
    ):
        return None  # it may be said of those alone
    return None if squash(stem) in spoken.called or any(stem in item for item in used) else named[0]


def _names(choice: str, text: str) -> str | None:
    """Return the words of a text that name a choice, unless they are negated."""
    if not choice.isascii():
        return choice if choice in text else None
    ending = r"\w{0,3}" if len(choice) > 4 else "(?:s|al|als|ed|ing)?"
    patterns = [
        rf"{_spelt(_stem(choice))}{ending}",
        *(rf"{word}\w*" for word in _SYNONYMS.get(choice.casefold(), ())),
    ]
    for match in re.finditer(rf"(?<![\w-])(?<!\w['’])(?:{'|'.join(patterns)})(?![\w-])", text, re.IGNORECASE):
        if not _NEGATED.search(text[max(0, match.start() - 25) : match.start()]) and not _LATER.match(
            text[match.end() :]
        ):
            return match[0]
    return None


def named_in(choice: str, text: str, at: str) -> tuple[str, str] | None:
    """Return the pointer of a text and its words that name a choice, unless they are negated."""
    words = _names(choice, text)
    return None if words is None else (at, words)


def other_words(choice: str) -> tuple[str, ...]:
    """Return the beginnings of the words that name a choice."""
    return (_stem(choice), *_SYNONYMS.get(choice.casefold(), ()))


def in_parts(choice: str, text: str) -> bool:
    """Tell whether a text has the words of a choice one after the other: reading and writing, for read_write."""
    parts = [rf"\b{re.escape(part[:4])}\w*" for part in re.split(r"[ _-]", choice) if len(part) > 2]
    return len(parts) > 1 and re.search(r"\W+(?:\w+\W+){0,2}?".join(parts), text, re.IGNORECASE) is not None


def _spelt(choice: str) -> str:
    """Write a choice as a pattern for its words: room_temperature, room temperature."""
    return r"['’]?s?[ _-]?".join(map(re.escape, re.split(r"[ _-]", choice)))


def _stem(choice: str) -> str:
    """Shorten a choice so that other forms of the word count as it: withdrawal, withdraw."""
    text = choice.casefold()
    if " " in text or "_" in text:
        return text
    return text.removesuffix("al").removesuffix("ing").removesuffix("e") if len(text) > 5 else text


def listed_choices(task: AgentTask, schema: dict[str, Any], name: str) -> list[str]:
    """List the choices that a parameter documents, or another parameter of the same name of the same environment."""
    own = _choices(schema)
    return [
        text
        for text in own or _by_name(task.environment).get(name, [])
        if len(text) >= (_SHORTEST if text.isascii() and not any(map(str.isdigit, text)) else 2)
        and text.casefold() not in _COMMON
    ]


def _choices(schema: Any) -> list[str]:
    enum = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(enum, list):
        return [text for text in enum if isinstance(text, str)]
    description = schema.get("description") if isinstance(schema, dict) else None
    for pattern in _LISTED if isinstance(description, str) else ():
        if match := pattern.search(str(description)):
            found = [each.strip(" '\".") for each in re.split(r"[,/|]| or ", match[1])]
            found = [text.removeprefix("or ") for text in found if text]
            if len(found) > 1 and all(" " not in text for text in found):
                return found
    return []


def _read(environment: EnvironmentSpec) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tool in environment.tools:
        properties = tool.parameters.get("properties")
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            if listed := _choices(schema):
                found.setdefault(name, listed)
    return found


_by_name = IdentityCache(_read)
