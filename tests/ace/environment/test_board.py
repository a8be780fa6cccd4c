"""The board's running totals agree with the rules as written, whatever was put where and in whatever order."""

import random
from dataclasses import replace

import pytest

from agenthard.ace import domains
from agenthard.ace.domain import Domain, Number
from agenthard.ace.environment.board import Board
from agenthard.ace.environment.tallies import tally
from agenthard.ace.instance import Item, Puzzle, Slot
from agenthard.ace.rules import broken_global_rules, broken_slot_rules, filling, measure, violations
from tests.ace.environment.small import LIMITS, puzzle


def random_item(domain: Domain, id: str, rng: random.Random) -> Item:
    item: Item = {domain.id_key: id, "name": id}
    for attribute in domain.attributes:
        if isinstance(attribute, Number):
            item[attribute.name] = rng.randint(attribute.low, attribute.high)
        else:
            item[attribute.name] = rng.choice(attribute.values)
    return item


def random_puzzle(domain: Domain, rng: random.Random) -> Puzzle:
    """Three rows of four cells, five of them slots; thresholds near what random items give."""
    rows, cols = 3, 4
    items = {f"I{number}": random_item(domain, f"I{number}", rng) for number in range(40)}
    ids = iter(items)
    hidden = sorted(rng.sample([(r, c) for r in range(rows) for c in range(cols)], 5))
    slots = tuple(
        Slot(
            row,
            col,
            {rule.name: rng.choice(rule.thresholds) for rule in rng.sample(domain.slot_rules, 2)},
            tuple(next(ids) for _ in range(4)),
        )
        for row, col in hidden
    )
    grid = tuple(tuple(None if (r, c) in hidden else next(ids) for c in range(cols)) for r in range(rows))
    typical = [[items[rng.choice(list(items))] for _ in range(cols)] for _ in range(rows)]
    limits = {rule.name: measure(rule, typical) for rule in domain.global_rules}
    return Puzzle("random", domain.name, rows, cols, 4, limits, items, grid, slots, "")


@pytest.mark.parametrize("name", domains.names())
def test_board_agrees_with_the_rules(name: str) -> None:
    rng = random.Random(f"board of {name}")
    domain = domains.load(name)
    verdicts = set()
    for _ in range(20):
        puzzle = random_puzzle(domain, rng)
        board = Board(puzzle, domain)
        for _ in range(40):
            place = rng.choice(list(board.places.values()))
            board.put(place, rng.choice([None, *place.slot.candidates, *place.slot.candidates]))
            items = filling(puzzle, board.grid)
            assert board.full == all(item is not None for row in items for item in row)
            assert board.globals_hold() == (not broken_global_rules(domain, puzzle.limits, items))
            broken = [
                rule
                for other in board.places.values()
                if other.item is not None
                for rule in broken_slot_rules(domain, other.slot.limits, puzzle.items[other.item])
            ]
            assert board.slots_hold() == (not broken)
            assert board.solved() == (board.full and not list(violations(domain, puzzle, board.grid)))
            verdicts.add((board.full, board.globals_hold(), board.slots_hold()))
    # The random puzzles reach both verdicts, so that agreement means something.
    assert {globals_hold for _, globals_hold, _ in verdicts} == {True, False}
    assert {full for full, _, _ in verdicts} == {True, False}


@pytest.mark.parametrize("name", domains.names())
def test_every_tally_measures_what_its_rule_measures(name: str) -> None:
    rng = random.Random(f"tallies of {name}")
    domain = domains.load(name)
    for rule in domain.global_rules:
        running = tally(rule, 0, rows=2)
        grid: list[list[Item | None]] = [[None, None, None], [None, None, None]]
        for _ in range(60):
            row, col = rng.randrange(2), rng.randrange(3)
            new = random_item(domain, "I", rng) if rng.random() < 0.7 else None
            running.swap(grid[row][col], new, row)
            grid[row][col] = new
            assert running.measure() == measure(rule, grid)


def test_a_floor_counts_as_met_until_the_grid_is_full() -> None:
    board = Board(puzzle(), domains.load("course"))
    upper, lower = board.places.values()
    assert board.globals_hold()
    board.put(upper, "C12")
    assert board.globals_hold()  # 7 credits of the 10 asked for, and a cell to come
    board.put(lower, "C22")
    assert not board.globals_hold()
    board.put(lower, None)
    assert board.globals_hold() and not board.solved()


def test_a_ceiling_binds_at_once() -> None:
    board = Board(puzzle(), domains.load("course"))
    upper, _ = board.places.values()
    board.put(upper, "C13")  # price 200 + 300 + 350 = 850 of 900
    assert board.globals_hold() and not board.slots_hold()
    tight = replace(puzzle(), limits={**LIMITS, "total_price_max": 849})
    board = Board(tight, domains.load("course"))
    board.put(board.places[0, 1], "C13")
    assert not board.globals_hold()
