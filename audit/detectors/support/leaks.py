"""Phrases and marks by which a simulated user gives away that it is one, and what it was told."""

import re
from collections.abc import Iterator
from typing import NamedTuple

THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>(?P<thought>.*?)(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
"""Thoughts between tags; a tag that is never closed encloses the rest."""
CONTROL_WORD = re.compile(r"#{2,}[A-Z][A-Z_-]*[A-Z]#{2,}")
"""A word for the harness, such as ###STOP###."""
_OF_OTHERS = (
    r"(?:call|contact|speak|talk|reach|come|go|write|e-?mail|send|return|bring|visit|use|check|follow|wait|fill|log|submit"
    r"|provide|get|request|ask (?:for|you|about|if|that|whether))\b"
)
_TEXT = r"(?:instructions?|scenario|prompt|persona)\b"
_PART = r"(?:(?:system |user )?prompt|script|role[- ]?play|role description|character (?:sheet|description)|persona)\b"
_MENTION = re.compile(
    rf"\b(?:mentioned|provided|given|specified|stated|included) in (?:my|the) {_TEXT}|\bmy instructions?\b"
    rf"|\bbased on (?:my|the) {_TEXT}(?! (?:in|from|on|for|you|that|we|i)\b)|\b(?:according to|as per) my {_TEXT}"
    r"|\bas the (?:simulated )?(?:user|customer),? I (?:should|must|need to|have to)\b"
    r"|\bthe user is (?:very )?(?:persistent|terse|not|a |an )"
    r"|\b(?:stay|remain|keep)(?:ing)? in character\b"
    rf"|\b(?:according to|as per) (?:my|the) {_PART}(?! (?:you|on|in your)\b)"
    rf"|\bmy {_PART} (?:says?|said|tells?|told|states?|asks?|requires?|instructs?|is to)\b"
    rf"|\b(?:scenario|{_PART}) (?:that |which )?(?:i (?:was|am|have been) |i['’](?:ve been|m) |was |has been )?"
    r"(?:given|assigned|following|playing)(?: to me)?\b(?! (?:by|from)\b)"
    r"|\bi(?:['’]m| am) (?:only |just |merely )?(?:the|a|an) (?:simulated )?(?:user|customer) in (?:this|the|a) "
    r"(?:scenario|role[- ]?play|simulation|conversation|exercise|test)\b"
    r"|\b(?:pretend(?:ing)?|supposed) (?:to be|that i am|i am|i['’]m) (?:a|the) (?:customer|user|caller|client)\b"
    r"|\bi (?:was|am|have been) (?:told|instructed|asked|supposed) (?:not )?to (?:pretend|reveal|disclose|withhold)\b"
    r"|\bsimulated (?:user|customer|caller|client)\b|\bmy (?:system prompt|persona)\b"
    rf"|\bmy {_PART} (?:does(?:n['’]t| not)|mentions?|contains?|includes?|only|has)\b"
    r"|\b(?:in|for|during|of) (?:this|the) (?:simulation|role[- ]?play|simulated conversation)\b"
    r"|\bin (?:this|the|my) scenario,? (?:my (?:goal|role|task|character|persona)\b"
    r"|i(?:['’]m| am) (?:supposed|told|playing)\b)"
    r"|\b(?:scenario|role|persona|character|task) (?:description|instructions?) (?:says?|states?|tells?|asks?|mentions?"
    r"|requires?|does(?:n['’]t| not)|do(?:n['’]t| not))\b"
    rf"|\bi(?:['’]ve been| was| am|['’]m| have been) instructed (?:not )?to (?!{_OF_OTHERS})"
    r"(?![^.!?\n]*\b(?:by|from)\b)",
    re.IGNORECASE,
)
_BLANK = re.compile(
    r"\[(?:your|my|insert|enter|provide|not (?:provided|given|mentioned)|i can provide)\b[^\[\]]{0,90}\](?!\()",
    re.IGNORECASE,
)


class Leak(NamedTuple):
    """What a turn gives away."""

    kind: str
    """thoughts, mention, blank or control_word."""
    quote: str
    """The piece of the turn that shows it."""


def leaks(text: str) -> Iterator[Leak]:
    """Yield what one turn of a simulated user gives away, at most one of each kind."""
    thought = next((found for found in THOUGHT.finditer(text) if found["thought"].strip()), None)
    if thought is not None:
        yield Leak("thoughts", thought[0][:300])
    said = spoken(text)
    for kind, pattern in (("mention", _MENTION), ("blank", _BLANK)):
        found = pattern.search(said)
        if found is not None:
            yield Leak(kind, found[0])
    word = stray_control_word(text)
    if word:
        yield Leak("control_word", word)


def spoken(text: str) -> str:
    """Return a turn with its thoughts blanked out, so that positions stay."""
    return THOUGHT.sub(lambda found: " " * len(found[0]), text)


def stray_control_word(text: str) -> str:
    """Return the surroundings of a control word that neither begins nor ends what is said; empty when there is none."""
    first, said = CONTROL_WORD.search(text), spoken(text)
    ends = (said[: word.start()].strip() and said[word.end() :].strip() for word in CONTROL_WORD.finditer(said))
    if first is None or not all(ends):
        return ""
    return text[max(0, first.start() - 80) : first.end() + 80]
