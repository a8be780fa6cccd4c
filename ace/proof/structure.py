"""Whether the parts of an instance fit together at all; only then do rules and searches mean anything."""

from collections import Counter
from collections.abc import Iterator

from agenthard.ace import domains
from agenthard.ace.domain import Domain, Number
from agenthard.ace.instance import Cell, Instance, Item

_LARGEST = 2**40
"""No number of an item or a rule may be larger, so that sums over a grid stay exact."""


def structure_problems(instance: Instance) -> Iterator[tuple[Cell | None, str]]:
    """Yields what does not fit together in an instance.

    Args:
        instance: The instance.

    Yields:
        The cell it is about, if any, and a sentence.
    """
    puzzle = instance.puzzle
    if puzzle.domain not in domains.names():
        yield None, f"the domain {puzzle.domain!r} is unknown; there are: {', '.join(domains.names())}"
        return
    domain = domains.load(puzzle.domain)
    yield from _grid_problems(instance)
    yield from _rule_problems(instance, domain)
    for id, item in puzzle.items.items():
        yield from ((None, f"item {id!r}: {problem}") for problem in _item_problems(domain, id, item))
    for slot, known in zip(puzzle.slots, instance.answer.slots, strict=False):
        groups = Counter([known.truth, *known.decoys, *known.filters])
        if len(set(slot.candidates)) != len(slot.candidates) or groups != Counter(slot.candidates):
            yield slot.cell, "its candidates are not its truth, its decoys and its filters, each once"
        if len(slot.candidates) != puzzle.candidates_per_slot:
            yield (
                slot.cell,
                f"it has {len(slot.candidates)} candidates where {puzzle.candidates_per_slot} are announced",
            )
        if (known.stage is None) == bool(known.decoys):
            yield slot.cell, "a preference level belongs to the slots with decoys, and only to them"


def _grid_problems(instance: Instance) -> Iterator[tuple[Cell | None, str]]:
    puzzle, answer = instance.puzzle, instance.answer
    for name, grid in (("grid", puzzle.grid), ("solution", answer.solution)):
        if len(grid) != puzzle.rows or any(len(line) != puzzle.cols for line in grid):
            yield None, f"the {name} is not {puzzle.rows}x{puzzle.cols}"
            return
    empty = [(row, col) for row, line in enumerate(puzzle.grid) for col, id in enumerate(line) if id is None]
    if [slot.cell for slot in puzzle.slots] != empty:
        yield None, "the slots are not the empty cells of the grid in reading order"
    if len(answer.slots) != len(puzzle.slots):
        yield None, f"{len(puzzle.slots)} slots have {len(answer.slots)} answers"
        return
    truths = {slot.cell: known.truth for slot, known in zip(puzzle.slots, answer.slots, strict=True)}
    if answer.solution != puzzle.filled(truths):
        yield None, "the solution is not the grid filled with the truths"
    shown = [id for line in puzzle.grid for id in line if id is not None]
    used = Counter([*shown, *(id for slot in puzzle.slots for id in slot.candidates)])
    missing = sorted(used.keys() - puzzle.items.keys())
    if missing:
        yield None, f"no items have the ids {', '.join(missing[:5])}"
    twice = sorted(id for id, count in used.items() if count > 1)
    if twice:
        yield None, f"items are in more than one place: {', '.join(twice[:5])}"


def _rule_problems(instance: Instance, domain: Domain) -> Iterator[tuple[Cell | None, str]]:
    puzzle = instance.puzzle
    names = {rule.name for rule in domain.global_rules}
    if puzzle.limits.keys() != names:
        different = sorted(puzzle.limits.keys() ^ names)
        yield None, f"global rules missing or unknown: {', '.join(different)}"
    if any(abs(limit) > _LARGEST for limit in puzzle.limits.values()):
        yield None, f"a threshold is beyond {_LARGEST}"
    known = {rule.name for rule in domain.slot_rules}
    for slot in puzzle.slots:
        unknown = sorted(slot.limits.keys() - known)
        if unknown:
            yield slot.cell, f"unknown slot rules: {', '.join(unknown)}"


def _item_problems(domain: Domain, id: str, item: Item) -> Iterator[str]:
    if item.get(domain.id_key) != id:
        yield f"its {domain.id_key} is {item.get(domain.id_key)!r}"
    for attribute in domain.attributes:
        value = item.get(attribute.name)
        if isinstance(attribute, Number):
            if not isinstance(value, int) or abs(value) > _LARGEST:
                yield f"its {attribute.name} is {value!r}, not a whole number"
        elif not isinstance(value, str):
            yield f"its {attribute.name} is {value!r}, not a word"
