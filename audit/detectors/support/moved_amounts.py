"""What gold calls move when they are replayed: the numbers of the state that each one changes, and sums of money."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.knowledge import texts_in
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.gold import environment_of, gold_replay
from agenthard.audit.execution.replay import Step
from agenthard.audit.execution.state_diff import Difference, differences
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask

_SPENT = frozenset("cost costs price fee fees fare charge charged paid total amount".split())
_HELD = frozenset("balance balances funds cash credit account".split())
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?")


class Change(NamedTuple):
    """A gold call, and what it changed."""

    step: Step
    """The call, as replayed."""
    places: tuple[Difference, ...]
    """The places of the state that are different afterwards."""


def changes(task: AgentTask) -> tuple[Change, ...]:
    """Replay a ground truth with a look at the whole state after each call that changes it; kept as long as the task.

    Raises:
        UnavailableError: it cannot be executed here.
        ExecutionError: the environment broke.
    """
    return current_execution().remember("changes of gold calls", task, lambda: tuple(_changes(task)))


def _changes(task: AgentTask) -> Iterator[Change]:
    environment, steps = environment_of(task), gold_replay(task).steps
    environment.reset(task)
    state = environment.snapshot()
    for step in steps:
        environment.call(step.call)
        if step.changed:
            after = environment.snapshot()
            yield Change(step, tuple(differences(state, after, task.environment.state)))
            state = after


def moved(change: Change) -> list[float]:
    """List the sums of money that a call moved: by how much something held fell, and costs that are new.

    >>> step = Step(turn=0, index=0, call={"name": "buy"}, observation={"text": ""}, before="", after="x")
    >>> card = Difference(pointer="/cards/c1/balance", before=500, after=380)
    >>> order = Difference(pointer="/orders/o1", after={"cost": 120.0, "seats": 2})
    >>> moved(Change(step, (card, order)))
    [120]
    """
    found: list[float] = []
    for place in change.places:
        if _is_number(place.before) and _is_number(place.after):
            if _named(place.pointer, _HELD) and place.after < place.before:
                found.append(round(place.before - place.after, 2))
        elif place.before is None or isinstance(place.after, list):
            new = _added(place.before, place.after) if isinstance(place.after, list) else place.after
            found += [abs(float(text)) for at, text in texts_in(new, place.pointer) if _is_cost(at, text)]
    return [amount for amount in dict.fromkeys(found) if amount]


def _added(before: Any, after: list[Any]) -> list[Any]:
    """List what a list has more than before."""
    left = list(before) if isinstance(before, list) else []
    new = []
    for item in after:
        if item in left:
            left.remove(item)
        else:
            new.append(item)
    return new


def numbers_of(step: Step) -> set[float]:
    """Collect the numbers that a call is given or returns."""
    given = {float(text) for _, text in texts_in(step.call.arguments) if _NUMBER.fullmatch(text)}
    return given | {float(token) for token in _NUMBER.findall(step.observation.text)}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_cost(pointer: str, text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and _named(pointer, _SPENT)


def _named(pointer: str, wanted: frozenset[str]) -> bool:
    """Tell whether the last names of a place are about money."""
    names = [word for part in split(pointer)[-3:] for word in name_words(part)]
    return not wanted.isdisjoint(names)


class Payment(NamedTuple):
    """A balance that falls by another sum than the new records of its owner cost."""

    owner: str
    """Key of the record with the balance."""
    before: float
    """The balance at the start."""
    after: float
    """The balance expected in the end."""
    cost: float
    """Sum of the totals of the owner's new records."""

    @property
    def fallen(self) -> float:
        """By how much the balance falls."""
        return round(self.before - self.after, 2)


def unpaid(start: Any, expected: Any) -> Iterator[Payment]:
    """Yield the balances of an expected state that do not fall by what its new records cost their owners.

    A record is new when the list that holds it is longer than at the start, and none of its records is equal. It
    belongs to the owner whose name one of its own values is. Nothing is said of an owner without a new record.

    Args:
        start: the whole state at the start, by object.
        expected: the expected state of some objects, or a list of such states.

    >>> start = {"shop": {"users": {"Ada": {"balance": 150}}, "orders": []}}
    >>> order = {"user": "Ada", "total_price": 68}
    >>> [p.fallen for p in unpaid(start, {"shop": {"users": {"Ada": {"balance": 92}}, "orders": [order]}})]
    [58.0]
    >>> list(unpaid(start, {"shop": {"users": {"Ada": {"balance": 82}}, "orders": [order]}}))
    []
    """
    parts = expected if isinstance(expected, list) else [expected]
    for name, wanted in ((name, value) for part in parts if isinstance(part, dict) for name, value in part.items()):
        initial = start.get(name) if isinstance(start, dict) else None
        if not isinstance(initial, dict) or not isinstance(wanted, dict):
            continue
        bought = [row for key, rows in wanted.items() for row in _new_rows(initial.get(key), rows)]
        for owner, before, after in _balances(initial, wanted):
            totals = [total for row in bought if owner in row.values() for total in _totals(row)]
            if totals and abs(before - after - sum(totals)) > _CENT:
                yield Payment(owner, before, after, sum(totals))


_CENT = 0.005
_TOTAL = frozenset({"total"})


def _new_rows(before: Any, after: Any) -> list[dict[str, Any]]:
    """List the records that a list has more than before; a list that did not grow has none."""
    if not isinstance(after, list) or len(after) <= (len(before) if isinstance(before, list) else 0):
        return []
    return [row for row in _added(before, after) if isinstance(row, dict)]


def _totals(row: dict[str, Any]) -> list[float]:
    return [value for key, value in row.items() if _is_number(value) and not _TOTAL.isdisjoint(name_words(key))]


def _balances(initial: dict[str, Any], wanted: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Yield each balance that is in both states and falls: its owner, before and after."""
    for table, rows in wanted.items():
        held = initial.get(table)
        if not isinstance(rows, dict) or not isinstance(held, dict):
            continue
        for owner, row in rows.items():
            before, after = _balance(held.get(owner)), _balance(row)
            if before is not None and after is not None and after < before:
                yield owner, before, after


def _balance(row: Any) -> float | None:
    held = row.get("balance") if isinstance(row, dict) else None
    return float(held) if isinstance(held, int | float) and not isinstance(held, bool) else None
