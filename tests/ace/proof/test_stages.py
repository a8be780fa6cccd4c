"""Preference levels, against the definition: every combination of the earlier slots tried on a partial grid."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from agenthard.ace import domains
from agenthard.ace.domain import Domain
from agenthard.ace.instance import Instance
from agenthard.ace.proof import stages
from agenthard.ace.rules import broken_global_rules, filling
from tests.ace.environment.small import instance
from tests.ace.made import one, small_suite


def contexts(made: Instance, slot: int, level: int) -> Iterator[dict[int, str]]:
    """What the earlier decoy slots hold, by index, in every combination that a level ranges over."""
    answers = made.answer.slots
    earlier = [index for index in made.answer.decoy_slots if index < slot]
    if level == 1:
        for choice in product(*((answers[index].truth, *answers[index].decoys) for index in earlier)):
            yield dict(zip(earlier, choice, strict=True))
        return
    yield {}
    if level == 2:
        for start in range(len(earlier)):
            for choice in product(*(answers[index].decoys for index in earlier[start:])):
                yield dict(zip(earlier[start:], choice, strict=True))


def open_prefix_holds(domain: Domain, made: Instance, slot: int, decoy: str, context: dict[int, str]) -> bool:
    puzzle, answers = made.puzzle, made.answer.slots
    choice = {puzzle.slots[index].cell: context.get(index, answers[index].truth) for index in range(slot)}
    choice[puzzle.slots[slot].cell] = decoy
    return not broken_global_rules(domain, puzzle.limits, filling(puzzle, puzzle.filled(choice)))


def level_by_force(domain: Domain, made: Instance, slot: int) -> int:
    for level in (1, 2, 3):
        if all(
            open_prefix_holds(domain, made, slot, decoy, context)
            for decoy in made.answer.slots[slot].decoys
            for context in contexts(made, slot, level)
        ):
            return level
    return 4


def tightened(made: Instance, share: float) -> Instance:
    """The same instance with its ceilings lower by a share of themselves, so that more decoys show early."""
    domain, puzzle = domains.load(made.puzzle.domain), made.puzzle
    limits = {
        rule.name: puzzle.limits[rule.name] if rule.kind.is_floor else round(puzzle.limits[rule.name] * (1 - share))
        for rule in domain.global_rules
    }
    return replace(made, puzzle=replace(puzzle, limits=limits))


def test_levels_are_those_of_the_definition() -> None:
    seen = set()
    for made in small_suite():
        for each in (made, *(tightened(made, step / 100) for step in range(1, 12, 2))):
            domain = domains.load(each.puzzle.domain)
            levels = stages(domain, each)
            for index in each.answer.decoy_slots[:-1]:
                assert levels[index] == level_by_force(domain, each, index), each.id
                seen.add(levels[index])
    assert seen == {1, 2, 3, 4}


def test_slots_without_decoys_have_no_level() -> None:
    made = one("meal", hidden=6, budget=4)
    levels = stages(domains.load("meal"), made)
    assert [level is None for level in levels] == [not slot.decoys for slot in made.answer.slots]


def test_a_level_by_hand() -> None:
    # C12 with (1, 0) empty: price 200 + 300 + 300 = 800 of 900, workload 4 + 1 + 3 = 8 of 12, Ada Berg twice of 2.
    # C22 with the truth C11: price 850, workload 11, Ada Berg twice; with C12 she is there three times.
    assert stages(domains.load("course"), instance()) == [1, 3]
