"""Texts of a room that a model writes, and the rules that they have to keep.

A model writes sentences with locked places for signs, values and parameters, so it never sees what it could tell. What
it writes is checked by itself here, and the room with it by the same proof as any other. What breaks a rule is rejected
with the reason, and the grammar's text is used.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agenthard.escape.narrative.themes import CUE_ADJECTIVES, CUE_NOUNS, Theme

MOST_CHARACTERS = 300
"""Longest sentence."""
LEAST_PHRASES = 24
"""Phrases that the values of a room need, so that they differ."""
_SENTENCES = (2, 6)
_PLACE = re.compile(r"\{(\w*)\}")
_PHRASE = re.compile(r"[a-z]+( [a-z]+){1,4}")
_SIGN = re.compile(rf"\b(?:{'|'.join(CUE_ADJECTIVES)}) (?:{'|'.join(CUE_NOUNS)})\b", re.IGNORECASE)
_TEXTS = {"type": "array", "items": {"type": "string"}}
_OUTPUT: dict[str, dict[str, Any]] = {
    "narrative": {"opening": {"type": "string"}, "clues": _TEXTS, "hints": _TEXTS},
    "values": {"phrases": _TEXTS},
}


class RejectedTextError(ValueError):
    """A model's text that breaks a rule; the message says which."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote for one room and was accepted."""

    theme: Theme | None = None
    """The theme with the model's sentences; None for the grammar's."""
    phrases: tuple[str, ...] = ()
    """What texts among the values are made of; none for our words."""
    notes: tuple[str, ...] = ()
    """Who wrote what, and what was rejected and why."""


Writer: TypeAlias = Callable[[Theme, int, int], Written]
"""Asks for the texts of a room: its theme, its number of parts, and its number among those of its size."""


def narrative_prompt(theme: Theme) -> str:
    """Return what a model is asked for the sentences of a room."""
    return (
        f"Write the sentences of an escape room in the style {theme.name}. "
        "Reply with one JSON object and nothing else:\n"
        '{"opening": "...", "clues": ["...", "..."], "hints": ["...", "..."]}\n'
        "opening: one or two sentences that set the scene. It names no numbers, no codes and no marks on things.\n"
        "clues: 2 to 6 different sentences that tell where a value is written. Each holds {cue} once, after the word "
        "the, and then «{value}» once, with these quotation marks and braces, unchanged.\n"
        "hints: 2 to 6 different sentences that tell what a parameter belongs to. Each holds `{input}` once, with the "
        "backquotes, and {cue} once, after the word the, unchanged.\n"
        f"For example, a clue: {theme.clues[0]} A hint: {theme.hints[0]}"
    )


def phrases_prompt(theme: Theme) -> str:
    """Return what a model is asked for the phrases that values are made of."""
    return (
        f"Write {2 * LEAST_PHRASES} different phrases for notes and passwords in an escape room in the style "
        f"{theme.name}. Each has two to five English words in small letters a to z, and no digits or punctuation. "
        'Reply with one JSON object and nothing else: {"phrases": ["...", "..."]}'
    )


def reply_schema(what: str) -> dict[str, Any]:
    """Return the JSON Schema of a reply: ``narrative`` or ``values``."""
    fields = _OUTPUT[what]
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def read_narrative(reply: str, theme: Theme) -> Theme:
    """Return a theme with the sentences of a reply.

    Raises:
        RejectedTextError: They leak, contradict, or are not what was asked for.
    """
    data = _object(reply)
    opening = data.get("opening")
    if not isinstance(opening, str):
        raise RejectedTextError("the opening is not a text")
    _check(opening, "the opening", {})
    clues = _sentences(data.get("clues"), "clue", {"{cue}": "the {cue}", "{value}": "«{value}»"})
    hints = _sentences(data.get("hints"), "hint", {"{input}": "`{input}`", "{cue}": "the {cue}"})
    if any(clue.index("{cue}") > clue.index("{value}") for clue in clues):
        raise RejectedTextError("a clue tells its value before its sign, so a reader would not know which it is")
    return replace(theme, opening=opening, clues=clues, hints=hints)


def read_phrases(reply: str) -> tuple[str, ...]:
    """Return the phrases of a reply.

    Raises:
        RejectedTextError: There are too few, or some are not what was asked for.
    """
    found = _object(reply).get("phrases")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise RejectedTextError("the phrases are not a list of texts")
    wrong = next((each for each in found if not _PHRASE.fullmatch(each) or len(each) > 60), None)
    if wrong is not None:
        raise RejectedTextError(f"{wrong[:80]!r} is not two to five words in small letters")
    phrases = tuple(dict.fromkeys(found))
    if len(phrases) < LEAST_PHRASES:
        raise RejectedTextError(f"{len(phrases)} different phrases; {LEAST_PHRASES} are needed")
    return phrases


def _object(reply: str) -> dict[str, Any]:
    try:
        data = json.loads(reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```"))
    except (ValueError, RecursionError):
        raise RejectedTextError("the reply is not JSON") from None
    if not isinstance(data, dict):
        raise RejectedTextError("the reply is not a JSON object")
    return data


def _sentences(found: Any, word: str, places: dict[str, str]) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise RejectedTextError(f"the {word}s are not a list of texts")
    sentences = tuple(dict.fromkeys(each.strip() for each in found))
    least, most = _SENTENCES
    if not least <= len(sentences) <= most:
        raise RejectedTextError(f"{len(sentences)} different {word}s; {least} to {most} are needed")
    for sentence in sentences:
        _check(sentence, f"a {word}", places)
    return sentences


def _check(text: str, where: str, places: dict[str, str]) -> None:
    """Refuse a text that holds anything a reader would take for a value, a sign, a parameter or a part."""
    if not text.strip() or len(text) > MOST_CHARACTERS:
        raise RejectedTextError(f"{where} has {len(text)} characters; 1 to {MOST_CHARACTERS} are allowed")
    for place, locked in places.items():
        if text.count(place) != 1 or text.count(locked) != 1:
            raise RejectedTextError(f"{where} does not hold {locked} once: {text[:80]!r}")
    rest = text
    for locked in places.values():
        rest = rest.replace(locked, "")
    if "{" in rest or "}" in rest:
        raise RejectedTextError(f"{where} has other places than those asked for: {text[:80]!r}")
    if any(mark in rest for mark in "«»`"):
        raise RejectedTextError(f"{where} tells a value or names a parameter of its own: {text[:80]!r}")
    if sign := _SIGN.search(rest):
        raise RejectedTextError(f"{where} names a sign of its own, {sign.group(0)!r}: {text[:80]!r}")
    if re.search(r"\d|part-", rest):
        raise RejectedTextError(f"{where} holds a number or the id of a part: {text[:80]!r}")
    if not rest.isprintable():
        raise RejectedTextError(f"{where} holds a line break or a control character: {text[:80]!r}")
