"""Which stated value is meant where a ground truth gives one that has no source: pairs of two sides of a slip."""

import re
from collections.abc import Sequence

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.spoken_values import Atom, Spoken, Statement
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.execution.replay import Step

_BOUND = re.compile(
    r"\b(?:if|unless|until|below|under|within|less|lower|cheaper|most|more|up to|max(?:imum)?|exceed\w*|over|above|least"
    r"|min(?:imum)?|around|about|approximately|roughly|than|not|no longer|instead of|rather than|from|currently|was|had"
    r"|version|top|every|each)\W+(?:\w+\W+){0,2}$|\bor\W+$",
    re.IGNORECASE,
)
"""What comes before a number that is a bound, a guess, or what shall not be."""
_ANCHOR_REACH = 24
_EMPTY = frozenset("value number amount id count num total the of name type data input param text list max min".split())


def paired_number(spoken: Spoken, atom: Atom, turn: int, steps: Sequence[Step], near: bool) -> Statement | None:
    """Return the number that the user states where a gold call gives one without source.

    A stated number is meant where the one given differs from it by one digit that is lost, put in, another or exchanged
    with its neighbour; where it is next to a word of the parameter's name; or where it is the only number of the
    request.

    Args:
        spoken: what the user states.
        atom: the number without source.
        turn: turn of its call.
        steps: the replayed calls before it.
        near: whether only a slip counts: the number is part of a text.
    """
    free = [said for said in spoken.unused(turn, "number", steps) if not _is_bound(said)]
    slips = [said for said in free if is_slip(said.mention.text, atom.mention.text)]
    if len({said.mention.text for said in slips}) == 1:
        return slips[0]
    if near or slips:
        return None
    anchored = [said for said in free if _is_anchored(said, atom)]
    if len({said.mention.values for said in anchored}) == 1:
        return anchored[0]
    every = spoken.statements(turn, "number")
    return free[0] if len(every) == len(free) == 1 and _is_short(every[0].whole) else None


def paired_code(spoken: Spoken, atom: Atom, turn: int) -> Statement | None:
    """Return the code that the user states where a gold call gives another one of the same form."""
    free = spoken.unused(turn, "code")
    near = [said for said in free if is_slip(said.mention.text, atom.mention.text)]
    return near[0] if len({said.mention.text for said in near}) == 1 else None


def is_slip(one: str, other: str) -> bool:
    """Tell whether two numbers or codes differ by one digit or letter, lost, put in, another, or exchanged.

    Numbers of one digit differ from all others by one.

    >>> is_slip("150", "15"), is_slip("card_9021", "card_9012"), is_slip("3", "4"), is_slip("1,000", "100")
    (True, True, False, True)
    """
    a, b = (text.casefold().replace(",", "").strip("#$€£¥% ") for text in (one, other))
    a, b = (text.rstrip("0").rstrip(".") if re.fullmatch(r"-?\d+\.0*", text) else text for text in (a, b))
    if a == b or (len(a) < 2 and len(b) < 2) or (min(len(a), len(b)) < 2 and a[:1] != b[:1]):
        return False
    if a.lstrip("-") == b.lstrip("-"):
        return False
    if len(a) == len(b) == 2 and a != b[::-1]:
        return False  # two digits of which one is another: any two numbers may be so near
    return OSA.distance(a, b, score_cutoff=1) == 1


def _is_bound(said: Statement) -> bool:
    before = said.whole[max(0, said.mention.start - 40) : said.mention.start].rpartition(".")[2]
    return _BOUND.search(before) is not None


def _is_anchored(said: Statement, atom: Atom) -> bool:
    names = {word for word in name_words(atom.value.member) if len(word) > 2} - _EMPTY
    start, end = said.mention.start, said.mention.start + len(said.mention.text)
    before = re.split(r"[.,;:!?]\s", said.whole[max(0, start - _ANCHOR_REACH) : start])[-1]
    after = re.split(r"[.,;:!?]\s", said.whole[end : end + _ANCHOR_REACH])[0]
    spoken = {word[:5] for word in (*name_words(before)[-2:], *name_words(after)[:2])}
    return any(name[:5] in spoken for name in names)


def _is_short(text: str) -> bool:
    return len(sentence_at(text, 0)) == len(text.strip()) or len(text) <= 200
