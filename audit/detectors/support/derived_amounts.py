"""The amounts that follow from the records that a ground truth is about: prices, sums of some, differences."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from agenthard.audit.detectors.support.own_records import Found
from agenthard.audit.detectors.support.reachable_records import reachable
from agenthard.audit.detectors.support.sibling_choices import choices_of
from agenthard.audit.detectors.support.sibling_records import Sibling, group_of
from agenthard.taxonomy.task import AgentTask

_MOST_PARTS = 8
"""Amounts of one record of which all sums are made; of more only the whole."""
_MOST_GROUPS = 10
_MOST_SUMS = 400
"""Sums of the records that the gold calls name, of which pairs are made."""


def cents_of(value: Any) -> Iterator[int]:
    """Yield the amounts of a JSON value in cents."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from cents_of(item)
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < abs(value) < 10**9:
        yield round(abs(value) * 100)


def derived_cents(task: AgentTask) -> frozenset[int]:
    """Collect the amounts, in cents, that the records of a task yield.

    These are all numbers of these records; the sums of some numbers of one list in one record; for the records that
    gold calls name, the sums and differences of two such sums; what the calls move, some of them together, and what is
    left of a number after it; and what a variant costs more or less than the item that is there.
    """
    records = reachable(task)
    given = {text for _, call in task.gold_calls() for text in _texts(call.arguments)}
    plain = {number for _, record in records for number in cents_of(record)}
    sums = {total for found in records for total in _sums(found)}
    named = [found for found in records if found[0].rpartition("/")[2].replace("~1", "/") in given]
    changes = _changes(task, named)
    chosen = _chosen(task)
    moved = _totals([*moved_by_calls(task)]) | _totals(chosen)
    near = sorted({total for found in named for total in _sums(found)} | moved)[:_MOST_SUMS]
    pairs = {amount for one, other in combinations(near, 2) for amount in (one + other, abs(one - other))}
    left = {abs(number + sign * amount) for number in plain for amount in moved for sign in (1, -1)}
    return frozenset(plain | sums | pairs | changes | moved | left)


def moved_by_calls(task: AgentTask) -> list[int]:
    """List what each gold call that changes something is about, in cents: the items that it names, or the record."""
    keyed = {found[0].rpartition("/")[2].replace("~1", "/"): found[1] for found in reachable(task)}
    amounts = []
    for _, call in task.gold_calls():
        tool = task.tool(call.name, call.requestor)
        given = list(_texts(call.arguments))
        for record in [keyed[text] for text in given if text in keyed] if tool is None or tool.effect != "read" else []:
            items = [item for value in record.values() if isinstance(value, list) for item in value]
            priced = [item for item in items if isinstance(item, dict) and isinstance(item.get("price"), int | float)]
            if not priced:
                continue
            named = [item for text in given for item in _first(priced, text)]
            amounts.append(sum(round(item["price"] * 100) for item in named or priced))
            break
    return amounts


def _first(items: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    return [item for item in items if text in item.values()][:1]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _sums(found: Found) -> Iterator[int]:
    """Yield the sums of some of the numbers of each list in a record, number by number of the same name."""
    for value in found[1].values():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for field in value[0]:
                numbers = [round(item[field] * 100) for item in value if isinstance(item.get(field), int | float)]
                yield from _totals(numbers)


def _totals(numbers: Iterable[int]) -> set[int]:
    parts = list(numbers)
    if len(parts) > _MOST_PARTS:
        return {sum(parts), *parts}
    return {sum(some) for size in range(1, len(parts) + 1) for some in combinations(parts, size)}


def _chosen(task: AgentTask) -> list[int]:
    """List what chosen variants cost more or less than what they replace."""
    return [
        round(abs(number - chosen.replaced.numbers[name]) * 100)
        for chosen in choices_of(task)
        if chosen.replaced is not None
        for name, number in chosen.own.numbers.items()
        if name in chosen.replaced.numbers
    ]


def _changes(task: AgentTask, named: list[Found]) -> set[int]:
    """Collect what the variants of the items of records cost, and what they cost more or less.

    Of several items, only what the cheapest variants save together is of interest, or what the dearest cost more.
    """
    found = set[int]()
    for _, record in named:
        savings, extras = list[int](), list[int]()
        groups = [(key, group) for key in _texts(record) if (group := group_of(task, key))]
        for key, group in groups[:_MOST_GROUPS]:
            prices = [_cents(each) for each in group.members.values()]
            at_hand = [price for each in group.members.values() if each.available for price in _cents(each)]
            for before in _cents(group.members[key]):
                found |= {amount for several in prices for price in several for amount in (price, abs(price - before))}
                savings += [before - min(at_hand)] if at_hand else []
                extras += [max(at_hand) - before] if at_hand else []
        found |= _totals(savings) | _totals(extras)
    return found


def _cents(record: Sibling) -> list[int]:
    return [round(number * 100) for number in record.numbers.values()]
