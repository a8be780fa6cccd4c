"""Patterns of a composed suite: what goes with a part in all tasks but a few, and in which order."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from agenthard.audit.detectors.support.composed_tasks import CHECK, GOLD, START, Part

_FEWEST = 5
"""Other tasks that a pattern needs at least."""
_MOST_PARTS = 1000
"""Parts that are compared, the most frequent first; τ²-bench's telecom has 150 that five tasks share."""
_FEWEST_IN_ALL = 30
"""Tasks of a suite from which on what all have but one is a pattern by itself."""
_MOST_EXCEPTIONS = 0.06
"""Share of the tasks with a part that may depart from the pattern."""
_BY_CHANCE = -5.0
"""Logarithm of the probability from which a pattern is not an accident; τ²-bench's telecom has about 2,000 pairs."""
_PAIRS_BY_CHANCE = -1.0
"""The same for a call that answers a start action, which no task without that action has."""
_ORDER_BY_CHANCE = -0.6
"""The same for the order of two calls: five tasks with the other order. A generator keeps to one order everywhere."""


class Pattern(NamedTuple):
    """What all tasks with some parts have, except a few."""

    chance: float
    """Logarithm of the probability that it is an accident."""
    given: tuple[Part, ...]
    """Parts that the tasks share: none, one or two."""
    lacking: Part
    """What the exceptions lack."""
    kept: int
    """Tasks that keep to it."""
    example: int
    """One of them, by its place."""


class Order(NamedTuple):
    """Two gold calls that all tasks with both make in the other order, except a few."""

    first: Part
    """The call that this task makes first."""
    second: Part
    """The call that the other tasks make first."""
    kept: int
    """Tasks with the other order."""
    example: int
    """One of them, by its place."""


def departures(members: Sequence[Sequence[Part]]) -> dict[tuple[int, str], Pattern]:
    """Return the least accidental pattern that a task departs from, by place of the task and kind of what it lacks.

    Args:
        members: the parts of each task of the suite.
    """
    having: dict[Part, int] = defaultdict(int)
    for number, member in enumerate(members):
        for part in member:
            having[part] |= 1 << number
    everyone = (1 << len(members)) - 1
    frequent = sorted(having.items(), key=lambda item: -item[1].bit_count())[:_MOST_PARTS]
    shared = {part: tasks for part, tasks in frequent if tasks.bit_count() >= _FEWEST}
    found: dict[tuple[int, str], Pattern] = {}
    for given, tasks in _given(shared, everyone):
        for lacking, others in shared.items():
            without = tasks & ~others
            if not without or lacking in given or not _few(without, tasks):
                continue
            if len(given) > 1 and (lacking.kind != GOLD or others & ~shared[given[0]]):
                continue  # a call answers the start action only where no task without that has it
            kept, lack = (tasks & others).bit_count(), without.bit_count()
            wider = [shared[part] for part in given] if len(given) > 1 else [everyone]
            chance = max(_chance(one & others, one, kept, lack) for one in wider) if given else _of_all(lack)
            if chance <= (_PAIRS_BY_CHANCE if len(given) > 1 else _BY_CHANCE):
                example = ((tasks & others) & -(tasks & others)).bit_length() - 1
                pattern = Pattern(chance, given, lacking, kept, example)
                for number in _places(without):
                    key = (number, lacking.kind)
                    found[key] = min(pattern, found.get(key, pattern))
    return found


def _few(without: int, tasks: int) -> bool:
    kept = tasks.bit_count() - without.bit_count()
    return kept >= _FEWEST and without.bit_count() <= max(1, _MOST_EXCEPTIONS * tasks.bit_count())


def _given(shared: dict[Part, int], everyone: int) -> Iterator[tuple[tuple[Part, ...], int]]:
    """Yield no part, each part, and each start action with an assertion, with the tasks that have them."""
    if everyone.bit_count() > _FEWEST_IN_ALL:
        yield (), everyone
    for part, tasks in shared.items():
        yield (part,), tasks
    seen = set(shared.values())
    checks = [item for item in shared.items() if item[0].kind == CHECK]
    starts = [item for item in shared.items() if item[0].kind == START]
    for (one, tasks), (other, others) in product(starts, checks):
        both = tasks & others
        if both not in seen and both.bit_count() > _FEWEST:
            seen.add(both)
            yield (one, other), both


def _of_all(lacking: int) -> float:
    """Return the logarithm of the probability of what the suite has except one task: never an accident."""
    return -math.inf if lacking == 1 else 0.0


def _chance(having: int, wider: int, kept: int, lacking: int) -> float:
    """Return the logarithm of the probability that so few of the tasks, drawn from a wider set, lack a part.

    Args:
        having: tasks of the wider set that have the part.
        wider: the wider set.
        kept: tasks drawn that have it.
        lacking: tasks drawn that do not.
    """
    have, all_of = having.bit_count(), wider.bit_count()
    drawn = kept + lacking
    ways = sum(math.comb(all_of - have, i) * math.comb(have, drawn - i) for i in range(lacking + 1))
    return math.log10(ways) - math.log10(math.comb(all_of, drawn))


def _places(tasks: int) -> Iterator[int]:
    while tasks:
        low = tasks & -tasks
        yield low.bit_length() - 1
        tasks ^= low


def reversals(members: Sequence[Sequence[Part]]) -> Iterator[tuple[int, Order]]:
    """Yield the tasks that make two gold calls in the order that no other task has, each with one pair of them.

    Args:
        members: the parts of each task of the suite, in order.
    """
    before: dict[tuple[str, str], list[tuple[int, Part, Part]]] = defaultdict(list)
    for number, member in enumerate(members):
        calls = [part for part in member if part.kind == GOLD]
        for one, other in combinations(calls, 2):
            before[_function(one), _function(other)].append((number, one, other))
    seen = set()
    for (first, second), made in before.items():
        others = before.get((second, first), [])
        if len(made) != 1 or first == second or made[0][0] in seen:
            continue
        if len(others) * math.log10(0.5) + math.log10(len(others) + 1) <= _ORDER_BY_CHANCE:
            number, one, other = made[0]
            seen.add(number)
            yield number, Order(one, other, len(others), others[0][0])


def _function(part: Part) -> str:
    return part.text.partition("(")[0]
