"""Records of a gold answer whose values come in another order than the user says them.

Parallel calls of one tool, and objects in a list, are records: each has a value for the same places. Where a request
says them one after the other ("12 red and 30 blue"), the values of each place come in the same order.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.said_places import Said, Scope, said_at
from agenthard.taxonomy.task import AgentTask

_MOST_RECORDS = 12
"""More records are compared with their neighbours alone."""


class Cell(NamedTuple):
    """The value of a record at one place."""

    pointer: str
    """JSON Pointer of its call."""
    name: str
    """Name of the tool."""
    value: GoldValue


class Pair(NamedTuple):
    """The values of two records at one place, and where they are said."""

    first: Cell
    second: Cell
    first_said: Said
    second_said: Said


class Crossed(NamedTuple):
    """Two places of two records that a request says in contrary order."""

    one: Pair
    """The place that contradicts the others."""
    other: Pair


Record = dict[str, Cell]
"""Values by their place within a record."""


def records(task: AgentTask, turn: int) -> Iterator[list[Record]]:
    """Yield the groups of records of a turn: calls of one tool, and the objects of each list."""
    by_tool, by_list = defaultdict[str, list[Record]](list), dict[tuple[int, str], dict[str, Record]]()
    for index, call in enumerate(task.ground_truth.turns[turn]):
        own: Record = {}
        for value in gold_values(call.arguments):
            pointer, at = f"/ground_truth/turns/{turn}/{index}", value.at.partition("/$any_of")[0]
            own[at] = Cell(pointer, call.name, value)
            parts = at.split("/")
            for i, part in enumerate(parts):
                if part.isdigit() and i + 1 < len(parts):
                    group = by_list.setdefault((index, "/".join(parts[:i])), {})
                    within = "/".join(parts[i + 1 :])
                    group.setdefault(part, {})[within] = Cell(pointer, call.name, value)
        by_tool[call.name].append(own)
    yield from (group for group in by_tool.values() if len(group) > 1)
    yield from (list(group.values()) for group in by_list.values() if len(group) > 1)


def crossed(group: Sequence[Record], scope: Scope, given: Counter[str]) -> Iterator[Crossed]:
    """Yield places of two records that the request says in contrary order.

    Looked at are values that the request says once and the calls give once: what several records share has no order.

    Args:
        group: the records.
        scope: what the user says for their turn.
        given: how often the calls of the turn give each value, in the form of `key`.
    """
    said = [{at: place for at, cell in record.items() if (place := _said_once(cell, scope, given))} for record in group]
    for i, j in combinations(range(len(group)), 2):
        if len(group) > _MOST_RECORDS and j - i > 1:
            continue
        places = [at for at in said[i] if at in said[j] and _are_apart(said[i][at], said[j][at])]
        rising = [at for at in places if said[i][at] < said[j][at]]
        falling = [at for at in places if at not in rising]
        rare, usual = sorted((rising, falling), key=len)
        for at in rare:
            other = next((each for each in usual if said[i][each].text == said[i][at].text), None)
            if other is not None:
                one = Pair(group[i][at], group[j][at], said[i][at], said[j][at])
                yield Crossed(one, Pair(group[i][other], group[j][other], said[i][other], said[j][other]))


def key(value: GoldValue) -> str:
    """Return a form of a value in which equal values are equal."""
    item = value.accepted[0][1]
    return f"{item:g}" if isinstance(item, float) else str(item).casefold()


def _said_once(cell: Cell, scope: Scope, given: Counter[str]) -> Said | None:
    if cell.value.omissible or given[key(cell.value)] != 1:
        return None
    found = said_at(cell.value, scope)
    return found[0] if len(found) == 1 else None


def _are_apart(one: Said, other: Said) -> bool:
    return one.text == other.text and (one.end <= other.start or other.end <= one.start)
