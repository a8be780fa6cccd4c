"""Which stated value is meant where a ground truth gives one that has no source: pairs of two sides of a slip."""

import re
from collections.abc import Sequence

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.mentions import Mention
from agenthard.audit.detectors.support.relative_days import is_today
from agenthard.audit.detectors.support.spoken_values import Atom, Spoken, Statement
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.execution.replay import Step

_BOUND = re.compile(
    r"\b(?:if|unless|until|below|under|within|less|lower|cheaper|most|more|up to|max(?:imum)?|exceed\w*|over|above"
    r"|least|min(?:imum)?|around|about|approximately|roughly|than|not|no longer|instead of|rather than|from"
    r"|currently|was|had|version|top|every|each|per)\W+(?:\w+\W+){0,2}$|\bor\W+$",
    re.IGNORECASE,
)
"""What comes before a number that is a bound, a guess, or what shall not be."""
_AFTER = re.compile(r"\s?(?:times|x|fold|percent of|% of)\b", re.IGNORECASE)
"""What comes after a number that is a factor."""
_POINT = re.compile(r"(?:^|\n)[\s*>-]*$")
"""What comes before the number of a point in a list."""
_ANCHOR_REACH = 30
_LONG = 4
"""Characters from which on a number in the state names something."""
_SHORT = 200
"""Characters of a request that is about little more than its one number."""
_BIRTH = frozenset("dob birth birthday birthdate born".split())
_EMPTY = frozenset("value number amount id count num total the of name type data input param text list max min".split())


def paired_number(spoken: Spoken, atom: Atom, turn: int, steps: Sequence[Step]) -> Statement | None:
    """Return the number that the user states where a gold call gives one without source.

    A stated number is meant where the one given differs from it by one digit that is lost, put in, another or exchanged
    with its neighbour; where it is next to a word of the parameter's name; or where it is the only number of the
    request. For a number within a text only a slip counts.

    Args:
        spoken: what the user states.
        atom: the number without source.
        turn: turn of its call.
        steps: the replayed calls before it.
    """
    free = [said for said in spoken.unused(turn, "number", steps) if not is_bound(said)]
    here = [said for said in spoken.unused(turn, "number", steps, here=True) if not is_bound(said)]
    slips = [said for said in here if any(is_slip(text, atom.mention.text) for text in _written(said))]
    if atom.embedded:
        slips = [said for said in slips if min(len(said.mention.text), len(atom.mention.text)) > 1]
    if len({said.mention.text for said in slips}) == 1:
        return slips[0]
    if atom.embedded or slips:
        return None
    if len(atom.mention.text) >= _LONG and spoken.knowledge.is_in_state(atom.mention.text):
        return None  # an agent may find it there
    anchored = [said for said in free if _is_anchored(said, atom)]
    if len({said.mention.values for said in anchored}) == 1:
        return anchored[0]
    texts = spoken.scope(turn)
    every = spoken.statements(turn, "number")
    alone = len(every) == len(free) == 1 and spoken.is_only_number(atom, turn, steps)
    return free[0] if alone and free[0].at == texts[-1][0] and len(texts[-1][1]) <= _SHORT else None


def _written(said: Statement) -> list[str]:
    return [said.mention.text, *(f"{v:.15g}" for v in said.mention.values if isinstance(v, float))]


def paired_code(spoken: Spoken, atom: Atom, turn: int) -> Statement | None:
    """Return the code that the user states where a gold call gives another one of the same form."""
    free = spoken.unused(turn, "code")
    near = [said for said in free if is_slip(said.mention.text, atom.mention.text)]
    exists = spoken.knowledge.is_in_state
    if exists(atom.mention.text) and any(exists(said.mention.text) for said in near):
        return None  # another entity is meant
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


def is_bound(said: Statement) -> bool:
    """Tell whether a stated number is a bound, a guess, a factor, the number of a point, or what shall not be."""
    before = said.whole[max(0, said.mention.start - 40) : said.mention.start].rpartition(".")[2]
    after = said.whole[said.mention.start + len(said.mention.text) :]
    is_point = _POINT.search(said.whole[: said.mention.start]) is not None and re.match(r"[.)、]\s", after) is not None
    return is_point or _BOUND.search(before) is not None or _AFTER.match(after) is not None


def _is_anchored(said: Statement, atom: Atom) -> bool:
    names = {word for word in name_words(atom.value.member) if len(word) > 2} - _EMPTY
    start, end = said.mention.start, said.mention.start + len(said.mention.text)
    before = re.split(r"[.,;:!?]\s", said.whole[max(0, start - _ANCHOR_REACH) : start])[-1]
    after = re.split(r"[.,;:!?]\s", said.whole[end : end + _ANCHOR_REACH])[0]
    spoken = {word.removesuffix("s") for word in (*name_words(before)[-3:], *name_words(after)[:2])}
    return any(len(word) > 2 and name.startswith(word[:5]) for name in names for word in spoken)


def paired_moment(spoken: Spoken, atom: Atom, turn: int) -> Statement | None:
    """Return the one date or time that the user states and nothing uses, where a gold call gives one without source.

    A date with day and month exchanged is meant even where another call uses it.
    """
    kind = atom.mention.kind
    if kind == "date":
        swapped = [said for said in spoken.statements(turn, kind) if _is_swapped(said.mention, atom.mention)]
        swapped = [said for said in swapped if _has_year(said) or not _BIRTH & set(name_words(atom.value.member))]
        if len({said.mention.values for said in swapped}) == 1:
            return swapped[0]
    free = [said for said in spoken.unused(turn, kind) if not is_today(said.whole, said.mention)]
    if kind == "date":
        year = {str(value)[:4] for value in atom.mention.values}
        if _BIRTH & set(name_words(atom.value.member)):
            free = [said for said in free if _has_year(said)]
        free = [s for s in free if any(str(v)[0] == "-" or str(v)[:4] in year for v in s.mention.values)]
    if len({said.mention.values for said in free}) != 1:
        return None
    said = free[0]
    if not spoken.is_scripted and not _is_close(said.mention, atom.mention):
        return None
    if _COUNTED.search(sentence_at(said.whole, said.mention.start)):
        return None
    counted = any(_COUNTED.search(text) for _, text in spoken.scope(turn))
    return None if counted and not _is_close(said.mention, atom.mention) else said


def _has_year(said: Statement) -> bool:
    return any(str(value)[0] != "-" for value in said.mention.values)


def _is_swapped(one: Mention, other: Mention) -> bool:
    """Tell whether two dates have day and month exchanged."""
    swapped = {f"{str(v)[:-6]}-{str(v)[-2:]}-{str(v)[-5:-3]}" for v in other.values}
    alike = {str(v)[-6:] for v in one.values} & {str(v)[-6:] for v in swapped}
    years = {str(v)[:-6] for v in one.values} & ({str(v)[:-6] for v in other.values} | {""})
    return bool(alike) and bool(years) and not one.values & other.values


def _is_close(one: Mention, other: Mention) -> bool:
    """Tell whether two dates are in one month, or two times half a day apart."""
    if one.kind == "date":
        return any(str(a)[-6:-3] == str(b)[-6:-3] for a in one.values for b in other.values)
    return any(abs(float(a) - float(b)) == 12 * 60 for a in one.values for b in other.values)


_COUNTED = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|now"
    r"|(?:next|following|previous|same|last|past|coming|upcoming|first|each|every) (?:\w+ )?"
    r"(?:day|night|week|month|year|hour)s?"
    r"|(?:an?|one|two|three|four|five|\d+)[ -](?:\w+ )?(?:minute|hour|day|night|week|month)s?"
    r"|days?|end|beginning|later|earlier|before|after|until|midnight|noon)\b|[周底后前]|星期|小时|分钟|明天|今天|天",
    re.IGNORECASE,
)
"""Words by which a date or a time is counted from another."""
