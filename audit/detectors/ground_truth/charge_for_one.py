"""Required amounts that were worked out for one of several things which the ground truth pays for."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.taxonomy.accepted import nearest_value
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall

_AMOUNT = re.compile(r"[$€£]?\s?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:\.\d{1,2})?)")
_CENTS = 100
_MOST = 1e12
"""Larger numbers are not amounts of money, and infinities have no cents."""


class ForOne(NamedTuple):
    """A charge of the ground truth, and the thing of which a required amount counts one where the charge counts all."""

    pointer: str
    """JSON Pointer of the charge in the ground truth."""
    charged: float | int
    """The charge."""
    listed: str
    """Argument that lists the things; several where they list equally many."""
    number: int
    """How many there are."""


def charged_for_all(task: AgentTask, text: str) -> ForOne | None:
    """Find the charge of which a required amount is the same for one of the things that a gold call pays for.

    A gold call lists n things (passengers, items) and several payments. A required amount that is one n-th of their sum
    less all payments but one sets the price of one thing against the payments for all: nobody is charged that.

    Returns:
        None where the amount is charged, is no amount, or no call of the ground truth explains it so.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    required = round(float(match["number"].replace(",", "")) * _CENTS)
    for pointer, call in task.gold_calls():
        payments = list(_payments(pointer, call))
        if any(round(amount * _CENTS) == required for _, amount in payments):
            return None
        total = sum(round(amount * _CENTS) for _, amount in payments)
        for at, amount in payments if len(payments) > 1 and required > 0 else ():
            others = total - round(amount * _CENTS)
            numbers = {name: number for name, number in _lists(call) if total - number * others == number * required}
            if numbers:
                return ForOne(at, amount, " or ".join(numbers), next(iter(numbers.values())))
    return None


def _payments(pointer: str, call: ToolCall) -> Iterator[tuple[str, float | int]]:
    """Yield the numbers in the objects of a list, one in each: what several means of payment contribute."""
    for name, items in _lists_of_objects(call):
        numbers = [[(key, item[key]) for key in item if _is_number(item[key])] for item in items]
        if all(len(each) == 1 and abs(each[0][1]) < _MOST for each in numbers):
            for i, [(key, amount)] in enumerate(numbers):
                yield join(f"{pointer}/arguments", name, i, key), amount


def _lists(call: ToolCall) -> Iterator[tuple[str, int]]:
    """Yield the lists of two things or more that hold no numbers, with their lengths."""
    for name, items in _lists_of_objects(call):
        if len(items) > 1 and not any(_is_number(value) for item in items for value in item.values()):
            yield name, len(items)


def _lists_of_objects(call: ToolCall) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name, value in call.arguments.items():
        items = nearest_value(value)
        if isinstance(items, list) and items and all(isinstance(item, dict) for item in items):
            yield name, items


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
