"""Values that parallel gold calls repeat, or replace, where the user lists different ones."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.mentions import Kind, Mention
from agenthard.audit.detectors.support.relative_days import is_today
from agenthard.audit.detectors.support.spoken_values import Spoken, Statement, atoms_of
from agenthard.audit.detectors.support.text import EMPTY_WORDS, squash
from agenthard.audit.detectors.support.value_pairs import is_bound
from agenthard.taxonomy.task import AgentTask

_LIST = r"(?<![\w-]){a}(?:,| and| or|, and|和|、|与)? ?(?P<other>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?)"

_REACH = 30
_JOINING = frozenset("of for with at in on to from by as per between than".split())


class Place(NamedTuple):
    """A value of a gold call."""

    pointer: str
    """JSON Pointer of its call."""
    name: str
    """Name of the tool."""
    value: GoldValue


def siblings(task: AgentTask, turn: int) -> Iterator[list[Place]]:
    """Yield the values that several calls of one tool give for one parameter in a turn."""
    groups = defaultdict[tuple[str, str], list[Place]](list)
    for index, call in enumerate(task.ground_truth.turns[turn]):
        for value in gold_values(call.arguments):
            if not value.omissible:
                groups[call.name, value.at.partition("/$any_of")[0]].append(
                    Place(f"/ground_truth/turns/{turn}/{index}", call.name, value)
                )
    yield from (group for group in groups.values() if len({place.pointer for place in group}) > 1)


def repeated(spoken: Spoken, group: list[Place], turn: int) -> Iterator[tuple[Place, Statement]]:
    """Yield a value that calls repeat and the one that the user states instead.

    The user states the repeated one once and, next to the same word, one other of the same kind that nothing uses.
    """
    by_value = defaultdict[frozenset[float | str], list[Place]](list)
    for place in group:
        atoms = atoms_of(place.value)
        if len(atoms) != 1 or atoms[0].embedded:
            return
        by_value[atoms[0].mention.values].append(place)
    kind = atoms_of(group[0].value)[0].mention.kind
    twice = [(values, places) for values, places in by_value.items() if len(places) == 2]
    if len(twice) != 1 or len(by_value) != len(group) - 1:
        return
    values, places = twice[0]
    stated = spoken.statements(turn, kind)
    once = [said for said in stated if said.mention.values & values]
    free = [
        said
        for said in spoken.unused(turn, kind)
        if once and not is_bound(said) and _neighbours(said) & _neighbours(once[0])
    ]
    if len(once) == 1 and len({said.mention.values for said in free}) == 1:
        yield places[1], free[0]


def _neighbours(said: Statement) -> set[str]:
    """Return the words before and after a stated value."""
    end = said.mention.start + len(said.mention.text)
    before = re.findall(r"[^\W\d_]+", said.whole[max(0, said.mention.start - _REACH) : said.mention.start].lower())
    after = re.match(r"[ -]?([^\W\d_]+)", said.whole[end : end + _REACH].lower())
    found = {word for word in before if word not in EMPTY_WORDS and word not in _JOINING}
    return {word for word in before[-3:] if word in found} | ({after[1]} - _JOINING - EMPTY_WORDS if after else set())


class Listed(NamedTuple):
    """A member of a list in the user's words."""

    at: str
    """JSON Pointer of the text."""
    text: str
    """The member that no call gives."""
    with_: str
    """What is listed with it, which another call gives."""


def replaced(task: AgentTask, spoken: Spoken, group: list[Place], turn: int) -> Iterator[tuple[Place, Listed]]:
    """Yield a word that no text has, and the one that the user lists with what another call gives.

    "The best Italian and Chinese restaurants": one call gives Italian, the other Mexican, and none Chinese.
    """
    texts = spoken.texts(turn)
    unsaid = [place for place in group if _is_word(place.value) and not _is_said(place.value, texts)]
    said = [place for place in group if _is_word(place.value) and _is_said(place.value, texts)]
    if len(unsaid) != 1 or len(unsaid) + len(said) != len(group):
        return
    for place in said:
        for _, word in place.value.strings():
            for at, text in spoken.scope(turn):
                for match in re.finditer(_LIST.format(a=re.escape(word)), text):
                    if squash(match["other"]) not in spoken.given_text:
                        yield unsaid[0], Listed(at, match["other"], word)
                        return


def _is_word(value: GoldValue) -> bool:
    texts = value.strings()
    return (
        len(texts) == len(value.accepted) and bool(texts) and all(text.replace(" ", "").isalpha() for _, text in texts)
    )


def _is_said(value: GoldValue, texts: list[str]) -> bool:
    return any(squash(text)[:5] in squash(other) for _, text in value.strings() for other in texts)


def doubled(task: AgentTask, spoken: Spoken, turn: int) -> Iterator[tuple[Place, Statement]]:
    """Yield a code or date that a turn's calls give in two parameters and the user states once, and the one meant.

    The user states one other of the same form for the turn, which nothing uses.
    """
    places = defaultdict[tuple[str, frozenset[float | str]], list[Place]](list)
    for index, call in enumerate(task.ground_truth.turns[turn]):
        for value in gold_values(call.arguments):
            for atom in atoms_of(value) if not value.omissible and len(value.accepted) == 1 else ():
                if atom.mention.kind in ("code", "date"):
                    place = Place(f"/ground_truth/turns/{turn}/{index}", call.name, value)
                    places[_form(atom.mention), atom.mention.values].append(place)
    for (form, values), found in places.items():
        if len({(place.value.at if form == "date" else place.value.member) for place in found}) < 2 or len(found) != 2:
            continue
        kind: Kind = "date" if form == "date" else "code"
        stated = [said for said in spoken.statements(turn, kind) if _form(said.mention) == form]
        free = [said for said in spoken.unused(turn, kind) if _form(said.mention) == form]
        once = [said for said in stated if said.mention.values & values or _ends_like(said.mention, values)]
        if len(once) == 1 and len(free) == 1 and not is_today(free[0].whole, free[0].mention):
            yield found[1], free[0]


def _form(mention: Mention) -> str:
    return "date" if mention.kind == "date" else re.sub(r"[A-Za-z]", "a", re.sub(r"\d", "9", mention.text.lstrip("#")))


def _ends_like(mention: Mention, values: frozenset[float | str]) -> bool:
    return mention.kind == "date" and any(str(a)[-6:] == str(b)[-6:] for a in mention.values for b in values)
