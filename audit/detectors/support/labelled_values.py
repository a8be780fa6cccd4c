"""Values that a user states by the name of the parameter they are for: "an alert threshold of 3", "2 bathrooms"."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values, name_words
from agenthard.audit.detectors.support.mentions import Mention
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement
from agenthard.taxonomy.task import AgentTask

_LINK = (
    r"(?:is|are|was|were|be|being|to|of|at|as|equals?|equal to|with|by|set|value|amount|number|exactly|a|an|the|about"
    r"|should|around|approximately|on)"
)
_BEFORE = re.compile(
    rf"(?P<label>(?:[^\W\d_]+[ _-]+){{0,3}}[^\W\d_]+)(?:[ ]?[=:][ ]?|(?: {_LINK})+ )[$€£]?$", re.IGNORECASE
)
_ADJACENT = re.compile(r"(?P<label>[^\W\d_]+)['\"]?:? ?[$€£]?$")
"""What comes right before a value: "node 5"; quotation marks in an object that the user writes."""
_AFTER = re.compile(r"[ -](?P<label>[^\W\d_]+(?: [^\W\d_]+)?)")
_CHINESE = re.compile(r"(?P<label>[\u4e00-\u9fff]{2,8}?)(?:设置为|设定为|设为|分别为|分别是|为|是|：|:)\s?$")
_BREAK = re.compile(r"[.;!?\n,，。；！？、()]|\band\b|\bor\b")
_FORMER = re.compile(
    r"\b(?:if|unless|not|no longer|instead of|rather than|from|currently|was|were|had|than|every|each|per|or)"
    r"\W+(?:\w+\W+){0,2}$|从|不是|如果",
    re.IGNORECASE,
)
_SHORTEST = 3
_STEM = 6
_ANYTHING = re.compile(r"日期|时间|数量|名称|编号|数值|年份|月份")
"""Words that several parameters may be called by."""
_EMPTY = frozenset(
    "value number amount num count total the of name type data input param text list max min and for from with per id"
    " new all any day first last set".split()
)
_KINDS = ("number", "date", "time")


class Slot(NamedTuple):
    """A parameter that the calls of a turn give."""

    tool: str
    at: str
    """Its place, without the members of lists that have numbers."""


class Place(NamedTuple):
    """One value that a gold call gives."""

    pointer: str
    name: str
    value: GoldValue


def places(task: AgentTask, turn: int) -> dict[Slot, list[Place]]:
    """Collect the values of the gold calls of a turn by parameter."""
    found: dict[Slot, list[Place]] = {}
    for index, call in enumerate(task.ground_truth.turns[turn]):
        for value in gold_values(call.arguments):
            slot = Slot(call.name, _general(value.at))
            found.setdefault(slot, []).append(Place(f"/ground_truth/turns/{turn}/{index}", call.name, value))
    return found


def descriptions(task: AgentTask, given: Mapping[Slot, list[Place]]) -> dict[Slot, str]:
    """Return what the tools say of parameters."""
    found = {}
    for slot, own in given.items():
        tool = task.tool(slot.tool)
        place = documented(tool, own[0].value.at) if tool else None
        text = place.schema.get("description") if place else None
        found[slot] = text if isinstance(text, str) else ""
    return found


def _general(at: str) -> str:
    return re.sub(r"/\d+(?=/|$)", "/*", at.partition("/$any_of")[0])


def stated_for(spoken: Spoken, turn: int, slots: Mapping[Slot, str]) -> dict[Slot, list[Statement]]:
    """Return what the user states for parameters by their names.

    A statement is of the one parameter of which the words next to the value have more words than of any other.

    Args:
        spoken: what the user states.
        turn: the turn of the calls.
        slots: the parameters that compete for the words, with their descriptions, which count for Chinese words.
    """
    found: dict[Slot, list[Statement]] = {}
    if not slots:
        return found
    words = {slot: _words(slot) for slot in slots}
    for kind in _KINDS:
        for said in spoken.statements(turn, kind):  # type: ignore[arg-type]
            best = _best(said, words) or _described(said, slots)
            if best is not None and not _is_former(said) and not _has_unit(said):
                found.setdefault(best, []).append(said)
    return found


def _words(slot: Slot) -> frozenset[str]:
    names = [part for part in slot.at.split("/") if part not in ("", "*")]
    return (
        frozenset(word for word in name_words(names[-1]) if len(word) >= _SHORTEST) - _EMPTY if names else frozenset()
    )


def _best(said: Statement, words: dict[Slot, frozenset[str]]) -> Slot | None:
    for label in labels(said.whole, said.mention):
        scores = {slot: sum(any(_alike(own, word) for word in label) for own in names) for slot, names in words.items()}
        top = max(scores.values())
        best = [slot for slot, score in scores.items() if score == top]
        if top and len(best) == 1 and top == len(words[best[0]]):
            return best[0]
        if top:
            return None  # the words are those of several parameters, or a part of one's
    return None


def _described(said: Statement, slots: Mapping[Slot, str]) -> Slot | None:
    """Return the one parameter whose description has the Chinese word for a value: 尺寸为60."""
    before = _BREAK.split(said.whole[max(0, said.mention.start - 20) : said.mention.start])[-1]
    match = _CHINESE.search(before)
    for size in range(len(match["label"]), 1, -1) if match else ():
        if _ANYTHING.fullmatch(match["label"][-size:]):  # type: ignore[index]
            return None
        fit = [slot for slot, description in slots.items() if match["label"][-size:] in description]  # type: ignore[index]
        if fit:
            return fit[0] if len(fit) == 1 else None
    return None


def _is_former(said: Statement) -> bool:
    """Tell whether a value is what was before, a condition, or what shall not be."""
    before = said.whole[max(0, said.mention.start - 40) : said.mention.start].rpartition(".")[2]
    return _FORMER.search(before) is not None


def _has_unit(said: Statement) -> bool:
    """Tell whether a unit is attached to a number: 100µF."""
    after = said.whole[said.mention.start + len(said.mention.text) :][:1]
    return said.mention.kind == "number" and after.isalpha() and not "\u4e00" <= after <= "\u9fff"


def labels(text: str, mention: Mention) -> Iterator[list[str]]:
    """Yield the words by which a text calls a value: those before it, then those after it.

    >>> from agenthard.audit.detectors.support.mentions import mentions
    >>> text = "Set the alert threshold to 3 failed attempts."
    >>> list(labels(text, mentions(text)[0]))
    [['set', 'the', 'alert', 'threshold'], ['failed', 'attempts']]
    """
    before = _BREAK.split(text[max(0, mention.start - 60) : mention.start])[-1]
    if match := _BEFORE.search(before):
        yield name_words(match["label"])
    elif match := _ADJACENT.search(before):
        yield name_words(match["label"])[-1:]
    if match := _AFTER.match(text[mention.start + len(mention.text) :]):
        yield name_words(_BREAK.split(match["label"])[0])


def _alike(name: str, word: str) -> bool:
    short, long = sorted((name.removesuffix("s"), word.removesuffix("s")), key=len)
    return len(short) >= _SHORTEST and (
        long.startswith(short) or (len(short) > _STEM and long.startswith(short[:_STEM]))
    )
