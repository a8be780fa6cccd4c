"""Choices that a request names, against those that the calls of a turn give: in several calls, lists, options."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values
from agenthard.audit.detectors.support.named_choices import in_parts, listed_choices, named_in, other_words
from agenthard.audit.detectors.support.spoken_values import Spoken
from agenthard.audit.detectors.support.text import squash
from agenthard.taxonomy.task import AgentTask

_MOST_CHOICES = 40
_OWNED = re.compile(r"\b(?:my|your|his|her|our|their) \w+", re.IGNORECASE)
"""What belongs to a person is not a choice: "at my house"."""


class Place(NamedTuple):
    """A value of a gold call."""

    pointer: str
    """JSON Pointer of its call."""
    name: str
    """Name of the tool."""
    value: GoldValue


class Missed(NamedTuple):
    """A choice that the request names and no call gives, and the value that has its place."""

    place: Place
    at: str
    """JSON Pointer of the text."""
    text: str
    """The user's word."""
    choice: str
    """The choice that it means."""
    repeated: bool
    """Whether another value gives the same choice."""


def missed_choices(task: AgentTask, spoken: Spoken, turn: int) -> Iterator[Missed]:
    """Yield what the calls of a turn give instead of a choice that the request names.

    The values of one parameter, in all calls and lists of the turn, are compared with the choices that are named. One
    named choice is left over; and one value is a choice that no text names, or one that is there twice while each of
    the named ones fits one value.
    """
    by_parameter = groups(task, turn)
    every = Counter(
        str(item).casefold() for own in by_parameter.values() for place in own for _, item in place.value.accepted
    )
    for (name, _), own in by_parameter.items():
        tool = task.tool(name)
        place = documented(tool, own[0].value.at) if tool else None
        if place is None or not all(_is_choice(each.value) for each in own):
            continue
        listed = listed_choices(task, place.schema, own[0].value.member)
        if 2 <= len(listed) <= _MOST_CHOICES:
            found = _of_group(spoken, own, listed, every, turn)
            if found is not None:
                yield found


def groups(task: AgentTask, turn: int) -> dict[tuple[str, str], list[Place]]:
    """Collect the values of the gold calls of a turn by tool and parameter, the members of a list together."""
    found = defaultdict[tuple[str, str], list[Place]](list)
    for index, call in enumerate(task.ground_truth.turns[turn]):
        for value in gold_values(call.arguments):
            general = re.sub(r"/\d+(?=/|$)", "/*", value.at.partition("/$any_of")[0])
            found[call.name, general].append(Place(f"/ground_truth/turns/{turn}/{index}", call.name, value))
    return found


def _is_choice(value: GoldValue) -> bool:
    """Tell whether texts alone are accepted in a place."""
    texts = value.strings()
    return bool(texts) and len(texts) == len(value.accepted)


def _of_group(spoken: Spoken, own: list[Place], listed: list[str], every: Counter[str], turn: int) -> Missed | None:
    given = [{text.casefold() for _, text in place.value.strings()} for place in own]
    known = {text.casefold() for text in listed}
    if not all(texts & known for texts in given):
        return None
    scope = spoken.scope(turn)
    named = _named(listed, scope)
    free = [choice for choice in named if not any(choice.casefold() in texts for texts in given)]
    if len(free) != 1 or every[free[0].casefold()]:
        return None
    if squash(free[0]) in spoken.called and named[free[0]][0] != scope[-1][0]:
        return None  # it is said of an earlier call
    said = " ".join(text for text in spoken.texts(turn) if _own(text, scope) or len(_named(listed, [("", text)])) < 2)
    wrong = [place for place, texts in zip(own, given, strict=True) if not any(_is_said(text, said) for text in texts)]
    at, text = named[free[0]]
    if len(wrong) == 1:
        return None if wrong[0].value.omissible and len(own) > 1 else Missed(wrong[0], at, text, free[0], False)
    counts = Counter(next(iter(texts & known)) for texts in given)
    twice = [choice for choice, count in counts.items() if count == 2]
    if wrong or len(twice) != 1 or len(counts) != len(own) - 1 or len(named) != len(own):
        return None
    last = [place for place, texts in zip(own, given, strict=True) if twice[0] in texts][-1]
    return None if _times(twice[0], scope) > 1 else Missed(last, at, text, free[0], True)


def _named(listed: list[str], scope: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the choices that texts name, with the pointer and the words of the last; not a part of another choice."""
    found = {
        choice: hit
        for choice in listed
        for at, text in scope
        if (hit := named_in(choice, _OWNED.sub(" ", text), at)) is not None
    }
    return {
        choice: hit
        for choice, hit in found.items()
        if not any(other != choice and squash(choice) in squash(other) for other in found)
    }


def _own(text: str, scope: Sequence[tuple[str, str]]) -> bool:
    """Tell whether the user says a text: an assistant that lists the choices names none."""
    return any(text == other for _, other in scope)


def _is_said(choice: str, said: str) -> bool:
    return any(squash(word) in squash(said) for word in other_words(choice)) or in_parts(choice, said)


def _times(choice: str, scope: Sequence[tuple[str, str]]) -> int:
    return sum(squash(text).count(squash(choice)) for _, text in scope)
