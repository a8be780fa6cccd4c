"""Solvers that know what an agent knows: the public part of an instance, and the answers of the tools."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ace.domain import Bound, Domain, Number
from ace.environment import Environment, Kind
from ace.environment.board import Board
from ace.environment.prompts import value_ranges
from ace.environment.tools import MAX_FIELDS, MAX_IDS
from ace.instance import Cell, Item, Slot

OPERATOR = {Bound.MAX: "<=", Bound.MIN: ">="}


class GaveUp(Exception):
    """A tool refused what a policy cannot do without."""


def do_nothing(environment: Environment) -> None:
    """Hands in the grid as it is."""
    environment.call(Kind.DONE)


def first_survivor(environment: Environment) -> None:
    """Puts into each slot the first candidate that meets the slot's own rules."""
    for slot in environment.puzzle.slots:
        put(environment, slot.cell, survivors(environment, slot)[0])
    environment.call(Kind.DONE)


def enumerate_with_global_check(environment: Environment) -> None:
    """Tries every combination of such candidates until the global check likes one, or may not be asked again."""
    slots = environment.puzzle.slots
    placed: dict[Cell, str] = {}
    for combination in itertools.product(*(survivors(environment, slot) for slot in slots)):
        for slot, id in zip(slots, combination, strict=True):
            if placed.get(slot.cell) != id:
                put(environment, slot.cell, id)
                placed[slot.cell] = id
        check = environment.call(Kind.CHECK_GLOBAL.of(environment.domain.name))
        if check["status"] == "failed" or check["data"]["is_valid"]:
            break
    environment.call(Kind.DONE)


def dump_and_search(environment: Environment) -> None:
    """Reads all values of all candidates with conditions that are always true, then computes the answer.

    Works where a query tells values: in reference mode.
    """
    domain = environment.domain
    known = fixed_items(environment)
    try:
        for slot in environment.puzzle.slots:
            for field in wanted_fields(domain, slot):
                always = (">=", -(10**9)) if is_number(domain, field) else ("not_in", [])
                for match in query(environment, slot, field, *always):
                    known.setdefault(match["id"], {})[field] = match[field]
    except GaveUp:
        environment.call(Kind.DONE)
        return
    place_solution(environment, known, [slot.candidates for slot in environment.puzzle.slots])


def halve_and_search(environment: Environment) -> None:
    """Finds the values of the candidates that meet their slot's rules by halving ranges, then computes the answer.

    Works where a query tells ids only: in paper mode.
    """
    domain = environment.domain
    known = fixed_items(environment)
    left = []
    try:
        for slot in environment.puzzle.slots:
            left.append(survivors(environment, slot))
            for id in left[-1]:
                known[id] = {}
            for field in wanted_fields(domain, slot):
                for id, value in halved(environment, slot, field, set(left[-1])):
                    known[id][field] = value
    except GaveUp:
        environment.call(Kind.DONE)
        return
    place_solution(environment, known, left)


def query(environment: Environment, slot: Slot, field: str, operator: str, value: Any) -> list[Any]:
    """The matches of one query."""
    arguments = {"row": slot.row, "col": slot.col, "field": field, "operator": operator, "value": value}
    answer = environment.call(Kind.QUERY.of(environment.domain.name), arguments)
    if answer["status"] == "failed":
        raise GaveUp(answer["messages"])
    return list(answer["data"]["matches"])


def ids(matches: Iterable[Any]) -> list[str]:
    """The ids of matches, in either mode."""
    return [match if isinstance(match, str) else match["id"] for match in matches]


def survivors(environment: Environment, slot: Slot) -> list[str]:
    """The candidates that meet the slot's own rules: one query per rule."""
    found = []
    for name, threshold in slot.limits.items():
        rule = environment.domain.slot_rule(name)
        found.append(ids(query(environment, slot, rule.attribute, OPERATOR[rule.bound], threshold)))
    return [id for id in found[0] if all(id in others for others in found)]


def halved(environment: Environment, slot: Slot, field: str, candidates: set[str]) -> Iterator[tuple[str, int | str]]:
    """Candidates with their value of an attribute, each question halving what is still possible."""
    values: Sequence[int | str] = value_ranges(environment.puzzle, environment.domain)[field]
    open_questions = [(candidates, values)]
    while open_questions:
        some, possible = open_questions.pop()
        if len(possible) == 1:
            yield from ((id, possible[0]) for id in some)
        elif some:
            low, high = possible[: len(possible) // 2], possible[len(possible) // 2 :]
            condition = ("<=", low[-1]) if is_number(environment.domain, field) else ("in", list(low))
            lower = some & set(ids(query(environment, slot, field, *condition)))
            open_questions += [(lower, low), (some - lower, high)]


def fixed_items(environment: Environment) -> dict[str, Item]:
    """What the global rules need to know of the items that stand in the grid from the start."""
    fixed = [id for row in environment.puzzle.grid for id in row if id is not None]
    fields = global_fields(environment.domain)
    known: dict[str, Item] = {id: {} for id in fixed}
    for some in batches(fixed, MAX_IDS):
        for few in batches(fields, MAX_FIELDS):
            arguments = {"ids": list(some), "field": list(few)}
            answer = environment.call(Kind.ITEM_ATTRIBUTES.of(environment.domain.name), arguments)
            for id, values in answer["data"]["items"].items():
                known[id] |= values if len(few) > 1 else {few[0]: values}
    return known


def batches(things: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Consecutive parts of a sequence."""
    return (things[start : start + size] for start in range(0, len(things), size))


def global_fields(domain: Domain) -> list[str]:
    """The attributes that the global rules are about."""
    return list(dict.fromkeys(rule.attribute for rule in domain.global_rules))


def wanted_fields(domain: Domain, slot: Slot) -> list[str]:
    """The attributes that any rule on a slot's candidates is about."""
    own = (domain.slot_rule(name).attribute for name in slot.limits)
    return list(dict.fromkeys([*global_fields(domain), *own]))


def is_number(domain: Domain, field: str) -> bool:
    """Whether an attribute holds a number."""
    return isinstance(domain.attribute(field), Number)


def place_solution(environment: Environment, known: dict[str, Item], candidates: Sequence[Sequence[str]]) -> None:
    """Tries all combinations in the head, places the one that is right, and hands it in."""
    puzzle = replace(environment.puzzle, items=known)
    board = Board(puzzle, environment.domain)
    places = list(board.places.values())
    left = [[id for id in some if place.accepts(id)] for place, some in zip(places, candidates, strict=True)]
    for combination in itertools.product(*left):
        for place, id in zip(places, combination, strict=True):
            if place.item != id:
                board.put(place, id)
        if board.globals_hold():
            for place, id in zip(places, combination, strict=True):
                put(environment, place.slot.cell, id)
            environment.call(Kind.CHECK_GLOBAL.of(environment.domain.name))
            break
    environment.call(Kind.DONE)


def put(environment: Environment, cell: Cell, id: str) -> None:
    """Puts an item into a slot."""
    environment.call(Kind.SET_SLOT, {"row": cell[0], "col": cell[1], "id": id})
