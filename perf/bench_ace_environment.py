"""Calls per CPU second of the ACE-Bench environment, and how long an episode takes to start.

Usage: python perf/bench_ace_environment.py. One 5x7 instance with 15 slots of 25 candidates, made of random items (what
a call costs does not depend on which items they are). Best of several rounds on one core. Exit code 1 when a limit is
missed. The last column compares with one global check that adds everything up again (agenthard.ace.rules).
"""

import random
import sys
import time
from collections.abc import Callable
from typing import Any

from agenthard.ace import domains
from agenthard.ace.domain import Number
from agenthard.ace.environment import Budgets, Environment, Kind, Mode
from agenthard.ace.instance import Cell, Item, Puzzle, Slot
from agenthard.ace.rules import violations

ROWS, COLS, SLOTS, CANDIDATES = 5, 7, 15, 25
SIMPLE_LIMIT, GLOBAL_LIMIT, START_LIMIT_MS = 200_000, 100_000, 1.0
ROUNDS, CALLS = 7, 20_000
DOMAIN = domains.load("course")


def random_item(id: str, rng: random.Random) -> Item:
    item: Item = {DOMAIN.id_key: id, "name": id}
    for attribute in DOMAIN.attributes:
        if isinstance(attribute, Number):
            item[attribute.name] = rng.randint(attribute.low, attribute.high)
        else:
            item[attribute.name] = rng.choice(attribute.values)
    return item


def random_puzzle() -> Puzzle:
    rng = random.Random(0)
    items = {id: random_item(id, rng) for id in (f"C{n}" for n in range(ROWS * COLS + SLOTS * CANDIDATES))}
    ids = iter(items)
    cells: list[Cell] = sorted(rng.sample([(r, c) for r in range(ROWS) for c in range(COLS)], SLOTS))
    rules = {rule.name: max(rule.thresholds) for rule in DOMAIN.slot_rules[:2]}
    return Puzzle(
        id="bench",
        domain=DOMAIN.name,
        rows=ROWS,
        cols=COLS,
        candidates_per_slot=CANDIDATES,
        limits={rule.name: 0 if rule.kind.is_floor else 10**6 for rule in DOMAIN.global_rules},
        items=items,
        grid=tuple(tuple(None if (r, c) in cells else next(ids) for c in range(COLS)) for r in range(ROWS)),
        slots=tuple(Slot(*cell, rules, tuple(next(ids) for _ in range(CANDIDATES))) for cell in cells),
        instruction="",
    )


def per_second(run: Callable[[int], object], calls: int = CALLS) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for number in range(calls):
            run(number)
        best = min(best, time.process_time() - start)
    return calls / best


def caller(environment: Environment, tool: str, arguments: list[dict[str, Any]]) -> Callable[[int], object]:
    count = len(arguments)
    return lambda number: environment.call(tool, arguments[number % count])


def main() -> int:
    puzzle = random_puzzle()
    slot = puzzle.slots[7]
    cell = {"row": slot.row, "col": slot.col}
    puts = [{**cell, "id": id} for id in slot.candidates]
    price = {**cell, "field": "price", "operator": "<=", "value": 300}
    category = {**cell, "field": "category", "operator": "in", "value": ["math"]}
    fixed = next(id for row in puzzle.grid for id in row if id)
    some = {"ids": [fixed], "field": ["price", "credits"]}
    name = DOMAIN.name
    kinds: list[tuple[str, Kind, list[dict[str, Any]], float | None]] = [
        ("set_slot, another item each time", Kind.SET_SLOT, puts, SIMPLE_LIMIT),
        ("get_current_grid_state", Kind.GRID, [{}], SIMPLE_LIMIT),
        ("get_slot_id", Kind.SLOT_ID, [cell], SIMPLE_LIMIT),
        ("get_hidden_slot_query_budget", Kind.SLOT_BUDGET, [cell], SIMPLE_LIMIT),
        ("get_global_check_budget", Kind.GLOBAL_BUDGET, [{}], SIMPLE_LIMIT),
        ("item info", Kind.ITEM_INFO, [{"id": fixed}], SIMPLE_LIMIT),
        ("slot check", Kind.CHECK_SLOT, [cell], SIMPLE_LIMIT),
        ("item attributes, 1 item x 2", Kind.ITEM_ATTRIBUTES, [some], None),
        ("query about a number", Kind.QUERY, [price], None),
        ("query about text", Kind.QUERY, [category], None),
        ("global check", Kind.CHECK_GLOBAL, [{}], GLOBAL_LIMIT),
    ]
    environment = Environment(puzzle, mode=Mode.REFERENCE, budgets=Budgets.UNLIMITED)
    for other in puzzle.slots:
        environment.call(Kind.SET_SLOT, {"row": other.row, "col": other.col, "id": other.candidates[0]})
    missed = []
    again = per_second(lambda number: list(violations(DOMAIN, puzzle, environment.grid)), 200)
    print(f"{'tool (reference mode)':<36}{'calls/s':>10}{'limit':>10}{'x adding up again':>20}")
    print(f"{'adding up again':<36}{again:10,.0f}{'':>10}{1:20.2f}")
    for label, kind, arguments, limit in kinds:
        assert environment.call(kind.of(name), arguments[0])["status"] == "success"
        speed = per_second(caller(environment, kind.of(name), arguments))
        print(f"{label:<36}{speed:10,.0f}{f'{limit:,}' if limit else '':>10}{speed / again:20.1f}")
        if limit and speed < limit:
            missed.append(label)
    starts = 1000 / per_second(lambda number: Environment(puzzle), 300)
    print(f"an episode starts in {starts:.2f} ms (limit {START_LIMIT_MS:.0f} ms)")
    if starts > START_LIMIT_MS:
        missed.append("start of an episode")
    if missed:
        print(f"missed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
