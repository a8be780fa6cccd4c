"""Instances for tests: generated ones, small enough to be checked by brute force where that is asked for."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from agenthard.ace import domains
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Answer, Cell, Instance, Item, Puzzle
from agenthard.ace.reference_format import read
from agenthard.ace.rules import violations


@cache
def small_suite(coupling: bool = False) -> tuple[Instance, ...]:
    """An instance of every domain for two numbers of slots and three budgets: 36 in all."""
    parameters = Parameters(
        rows=4, cols=5, hidden_slots=(3, 6), decoy_budgets=(4, 8, 12), candidates=9, seed=1, coupling=coupling
    )
    return tuple(generate(parameters))


@cache
def published(corpora: Path, files: str = "5x*") -> tuple[Instance, ...]:
    """The instances of the paper's files: 210 of ``5x5_released`` and 324 of ``5x7_generated``."""
    paths = sorted((corpora / "ace_reference").glob(f"{files}/*.gz"))
    return tuple(instance for path in paths for instance in read(path).instances)


def one(domain: str = "course", hidden: int = 5, budget: int = 8) -> Instance:
    parameters = Parameters(
        rows=4, cols=5, hidden_slots=(hidden,), decoy_budgets=(budget,), candidates=10, domains=(domain,)
    )
    return next(generate(parameters))


def solutions_by_force(puzzle: Puzzle) -> Iterator[dict[Cell, str]]:
    """Every choice of candidates that the rules allow, found by trying all of them."""
    domain = domains.load(puzzle.domain)
    cells = [slot.cell for slot in puzzle.slots]
    for choice in product(*(slot.candidates for slot in puzzle.slots)):
        filled = dict(zip(cells, choice, strict=True))
        if next(violations(domain, puzzle, puzzle.filled(filled)), None) is None:
            yield filled


def with_puzzle(instance: Instance, **changes: object) -> Instance:
    return replace(instance, puzzle=replace(instance.puzzle, **changes))


def with_slot_answer(instance: Instance, index: int, **changes: object) -> Instance:
    slots = list(instance.answer.slots)
    slots[index] = replace(slots[index], **changes)
    return replace(instance, answer=Answer(instance.answer.solution, tuple(slots)))


def with_item(instance: Instance, id: str, **values: int | str) -> Instance:
    items: dict[str, Item] = {**instance.puzzle.items, id: {**instance.puzzle.items[id], **values}}
    return with_puzzle(instance, items=items)
