"""The exact search, against brute force and against OR-tools' CP-SAT."""

from dataclasses import replace
from pathlib import Path

import pytest

from agenthard.ace import domains
from agenthard.ace.instance import Instance, Puzzle
from agenthard.ace.proof import search
from agenthard.ace.rules import filling, measure
from tests.ace.environment.small import instance
from tests.ace.made import one, published, small_suite, solutions_by_force
from tests.ace.proof.cp_sat import count_solutions


def loosened(puzzle: Puzzle, share: float) -> Puzzle:
    """The same puzzle with every global threshold relaxed by a share of itself, so that decoys begin to fit."""
    domain = domains.load(puzzle.domain)
    limits = {
        rule.name: round(puzzle.limits[rule.name] * (1 - share if rule.kind.is_floor else 1 + share))
        for rule in domain.global_rules
    }
    return replace(puzzle, limits=limits)


def found(puzzle: Puzzle, stop_after: int = 2) -> int:
    result = search(domains.load(puzzle.domain), puzzle, stop_after)
    assert result.complete
    return len(result.solutions)


def test_a_puzzle_by_hand() -> None:
    # C11 with C21 and C11 with C23 meet every global rule, but C23 is too difficult for its slot.
    puzzle = instance().puzzle
    result = search(domains.load("course"), puzzle)
    assert result.solutions == ({(0, 1): "C11", (1, 0): "C21"},)
    free = replace(puzzle.slots[1], limits={"min_credits": 1})
    result = search(domains.load("course"), replace(puzzle, slots=(puzzle.slots[0], free)))
    assert [solution[1, 0] for solution in result.solutions] == ["C21", "C23"]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.2])
@pytest.mark.parametrize("domain", domains.names())
def test_every_solution_is_found_and_no_other(domain: str, share: float) -> None:
    puzzle = loosened(one(domain, hidden=3, budget=8).puzzle, share)
    expected = list(solutions_by_force(puzzle))
    result = search(domains.load(domain), puzzle, stop_after=10_000)
    assert result.complete
    assert sorted(map(sorted, (solution.items() for solution in result.solutions))) == sorted(
        map(sorted, (solution.items() for solution in expected))
    )


def test_unsolvable_puzzles_have_no_solution() -> None:
    puzzle = one("meal").puzzle
    assert found(replace(puzzle, limits=puzzle.limits | {"weekly_protein_min": 10**6})) == 0
    slot = replace(puzzle.slots[0], limits={"max_calories": 0})
    assert found(replace(puzzle, slots=(slot, *puzzle.slots[1:]))) == 0


def test_a_grid_without_slots_has_one_filling() -> None:
    small = instance()
    full = replace(small.puzzle, grid=small.answer.solution, slots=())
    assert search(domains.load("course"), full).solutions == ({},)


def test_the_search_gives_up_where_it_is_told_to() -> None:
    result = search(domains.load("course"), one("course").puzzle, most_nodes=3)
    assert not result.complete and result.nodes > 3


@pytest.mark.long
def test_generated_instances_agree_with_cp_sat() -> None:
    counts = set()
    for made in (*small_suite(), *small_suite(coupling=True)):
        for share in (0.0, 0.02):
            puzzle = loosened(made.puzzle, share)
            count = found(puzzle)
            assert count == count_solutions(puzzle), (puzzle.id, share)
            counts.add(count)
    assert counts == {1, 2}


def with_second_solution(made: Instance) -> Puzzle:
    """The puzzle with one decoy, or where there is none one filter, turned into a twin of its slot's truth."""
    known = next((slot for slot in made.answer.slots if slot.decoys), made.answer.slots[0])
    twin = (*known.decoys, *known.filters)[0]
    key = domains.load(made.puzzle.domain).id_key
    items = made.puzzle.items | {twin: made.puzzle.items[known.truth] | {key: twin}}
    return replace(made.puzzle, items=items)


def without_solution(made: Instance) -> Puzzle:
    """The puzzle with the first ceiling one below what the only solution needs, or the first floor one above."""
    domain = domains.load(made.puzzle.domain)
    rule = domain.global_rules[0]
    needed = measure(rule, filling(made.puzzle, made.answer.solution))
    limits = made.puzzle.limits | {rule.name: needed + (1 if rule.kind.is_floor else -1)}
    return replace(made.puzzle, limits=limits)


@pytest.mark.parametrize("domain", domains.names())
def test_spoilt_instances_agree_with_cp_sat(domain: str) -> None:
    for hidden, budget in ((1, 0), (3, 0), (5, 8), (12, 12)):
        made = one(domain, hidden, budget)
        assert found(made.puzzle, 3) == count_solutions(made.puzzle, 3) == 1
        twice = with_second_solution(made)
        assert found(twice, 3) == count_solutions(twice, 3) == 2
        never = without_solution(made)
        assert found(never) == count_solutions(never) == 0


def test_all_solutions_of_a_loose_instance_are_counted() -> None:
    puzzle = loosened(one("travel", 4, 9).puzzle, 0.2)
    count = count_solutions(puzzle, 1000)
    assert found(puzzle, 1000) == count > 2


def test_values_below_zero_are_bounded_too() -> None:
    made = one("shopping", 4, 8)
    shifted = {id: item | {"protein": int(item["protein"]) - 100} for id, item in made.puzzle.items.items()}
    limit = made.puzzle.limits["weekly_protein_min"] - 100 * made.puzzle.rows * made.puzzle.cols
    slots = tuple(
        replace(slot, limits={name: at - 100 * (name == "min_protein") for name, at in slot.limits.items()})
        for slot in made.puzzle.slots
    )
    below = replace(made.puzzle, items=shifted, slots=slots, limits=made.puzzle.limits | {"weekly_protein_min": limit})
    assert limit < 0
    assert (
        search(domains.load("shopping"), below, 10).solutions
        == search(domains.load("shopping"), made.puzzle, 10).solutions
    )


@pytest.mark.long
@pytest.mark.corpora
def test_released_and_generated_files_agree_with_cp_sat(corpora: Path) -> None:
    instances = published(corpora)
    assert len(instances) == 534
    nodes = 0
    for number, made in enumerate(instances):
        result = search(domains.load(made.puzzle.domain), made.puzzle)
        assert result.complete and len(result.solutions) == 1
        assert made.puzzle.filled(result.solutions[0]) == made.answer.solution
        nodes += result.nodes
        if number % 12 == 0:
            assert count_solutions(made.puzzle) == 1, made.id
            loose = loosened(made.puzzle, 0.01)
            assert count_solutions(loose) == found(loose), made.id
    assert nodes < 20_000  # 219,013 combinations of candidates that meet their slots' rules
