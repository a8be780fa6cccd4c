"""Exact search: every way to fill the slots that meets all rules, by branch and bound.

Each global rule is written as upper limits on sums (ace.proof.sums). Slots are filled one after the other; a partial
filling is cut as soon as some sum exceeds its limit even with the least that the open slots can add. The bound never
cuts a solution, so what is found is all there is. Partial fillings are kept as rows of arrays and extended many at a
time, depth first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agenthard.ace.domain import Domain
from agenthard.ace.instance import Cell, Puzzle
from agenthard.ace.proof.sums import sums
from agenthard.ace.rules import broken_slot_rules

METHOD = "branch and bound on sums"
VERSION = 1
_MADE = 2**17
"""Most partial fillings that are made at a time, unless one slot has more options: bounds the memory."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    solutions: tuple[dict[Cell, str], ...]
    """Item id by cell of each solution, at most as many as were asked for."""
    nodes: int
    """Partial fillings looked at."""
    complete: bool
    """False when the search gave up, so that there may be solutions beyond these even though fewer were found."""


def search(domain: Domain, puzzle: Puzzle, stop_after: int = 2, most_nodes: int = 20_000_000) -> Found:
    """Finds the solutions of a puzzle.

    Args:
        domain: The puzzle's domain.
        puzzle: The puzzle; its ids, items and rules must be coherent (agenthard.ace.proof.structure).
        stop_after: How many solutions to find at most; 2 are enough to refute uniqueness.
        most_nodes: After how many partial fillings to give up.

    Returns:
        The solutions, and whether they are all.
    """
    options = [
        [id for id in slot.candidates if not broken_slot_rules(domain, slot.limits, puzzle.items[id])]
        for slot in puzzle.slots
    ]
    loads, room = _loads(domain, puzzle, [(slot.row, ids) for slot, ids in zip(puzzle.slots, options, strict=True)])
    found = fill(loads, room, stop_after, most_nodes)
    solutions = tuple(
        {slot.cell: ids[pick] for slot, ids, pick in zip(puzzle.slots, options, choice, strict=True)}
        for choice in found.choices
    )
    return Found(solutions, found.nodes, found.complete)


@dataclass(frozen=True, slots=True)
class Fillings:
    """Ways to choose an option per slot."""

    choices: tuple[tuple[int, ...], ...]
    """Index of the option by slot, for each way."""
    nodes: int
    """Partial fillings looked at."""
    complete: bool
    """False when the search gave up."""


def fill(
    loads: Sequence[NDArray[np.int64]], room: NDArray[np.int64], stop_after: int, most_nodes: int = 20_000_000
) -> Fillings:
    """Find ways to choose an option per slot such that no sum exceeds its limit.

    Args:
        loads: By slot: what each option adds to each sum.
        room: By sum: what the options may add together.
        stop_after: How many ways to find at most.
        most_nodes: After how many partial fillings to give up.

    Returns:
        The ways.
    """
    if any(len(each) == 0 for each in loads):
        return Fillings((), 0, True)
    # Few options first: a wrong choice is then cut before the many options of the last slots are tried.
    order = sorted(range(len(loads)), key=lambda index: (len(loads[index]), index))
    place = [order.index(index) for index in range(len(loads))]
    loads = [loads[index] for index in order]
    least = np.zeros((len(loads) + 1, len(room)), dtype=np.int64)
    for depth in range(len(loads) - 1, -1, -1):
        least[depth] = least[depth + 1] + loads[depth].min(axis=0)
    ways: list[tuple[int, ...]] = []
    nodes = 0
    stack = [(np.zeros((1, len(room)), dtype=np.int64), np.zeros((1, 0), dtype=np.int64))]
    while stack and len(ways) < stop_after:
        totals, choices = stack.pop()
        depth = choices.shape[1]
        if depth == len(loads):
            ways += [tuple(choice[at] for at in place) for choice in choices[: stop_after - len(ways)].tolist()]
            continue
        width = len(loads[depth])
        block = max(1, _MADE // width)
        if len(totals) > block:
            stack.append((totals[block:], choices[block:]))
            totals, choices = totals[:block], choices[:block]
        nodes += len(totals) * width
        if nodes > most_nodes:
            return Fillings(tuple(ways), nodes, False)
        extended = (totals[:, None, :] + loads[depth][None, :, :]).reshape(len(totals) * width, len(room))
        kept = np.flatnonzero((extended + least[depth + 1] <= room).all(axis=1))
        if len(kept):
            chosen = np.concatenate([choices[kept // width], (kept % width)[:, None]], axis=1)
            stack.append((extended[kept], chosen))
    return Fillings(tuple(ways), nodes, True)


def _loads(
    domain: Domain, puzzle: Puzzle, options: list[tuple[int, list[str]]]
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Returns what each option of each slot adds to every sum, and the room the fixed items leave.

    Sums that no filling can bring above their limit are left out.
    """
    by_slot: list[list[NDArray[np.int64]]] = [[] for _ in options]
    room: list[int] = []
    for each in sums(domain, puzzle):
        left = each.limit - each.of_fixed(puzzle)
        own = [np.array([each.load(puzzle.items[id], row) for id in ids], dtype=np.int64) for row, ids in options]
        if sum(int(loads.max(initial=-(2**62))) for loads in own) > left:
            room.append(left)
            for columns, loads in zip(by_slot, own, strict=True):
                columns.append(loads)
    stacked = [
        np.stack(columns, axis=1) if columns else np.zeros((len(ids), 0), dtype=np.int64)
        for columns, (_, ids) in zip(by_slot, options, strict=True)
    ]
    return stacked, np.array(room, dtype=np.int64)
