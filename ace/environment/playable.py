"""Whether an instance can be played at all: a broken one is refused before an agent meets it, not in the middle."""

from collections.abc import Iterator
from operator import methodcaller

from agenthard.ace.domain import Domain, Number
from agenthard.ace.instance import Puzzle
from agenthard.taxonomy.errors import AgentHardError


class UnplayableError(AgentHardError, ValueError):
    """An instance that contradicts itself or its domain; the message says where."""

    code = "AH606"
    remedy = "Correct the instance at the place that the message names; `agenthard ace verify` checks all of them."


def require_playable(puzzle: Puzzle, domain: Domain) -> None:
    """Refuses an instance on which a tool could fail.

    Args:
        puzzle: The instance.
        domain: Its domain.

    Raises:
        UnplayableError: The grid, the slots, the items or the rules do not fit together.
    """
    if reason := next(_faults(puzzle, domain), None):
        raise UnplayableError(f"instance {puzzle.id!r} cannot be played: {reason}")


def _faults(puzzle: Puzzle, domain: Domain) -> Iterator[str]:
    if len(puzzle.grid) != puzzle.rows or any(len(row) != puzzle.cols for row in puzzle.grid):
        yield f"its grid is not {puzzle.rows}x{puzzle.cols}"
    empty = [(r, c) for r, row in enumerate(puzzle.grid) for c, id in enumerate(row) if id is None]
    if sorted(slot.cell for slot in puzzle.slots) != empty:
        yield "its slots are not the empty cells of its grid"
    if missing := [rule.name for rule in domain.global_rules if rule.name not in puzzle.limits]:
        yield f"it has no threshold for {', '.join(missing)}"
    known = {rule.name for rule in domain.slot_rules}
    shown = {id for row in puzzle.grid for id in row if id is not None}
    for slot in puzzle.slots:
        if strange := sorted(slot.limits.keys() - known):
            yield f"slot {slot.cell} has rules that domain {domain.name!r} lacks: {', '.join(strange)}"
        shown.update(slot.candidates)
    if lost := sorted(shown - puzzle.items.keys()):
        yield f"its items lack {', '.join(lost[:5])}"
    items = [puzzle.items[id] for id in shown]
    kinds = {a.name: int if isinstance(a, Number) else str for a in domain.attributes}
    for name, kind in {"name": str, **kinds}.items():
        if set(map(type, map(methodcaller("get", name), items))) - {kind}:
            culprit = min(id for id in shown if type(puzzle.items[id].get(name)) is not kind)
            yield f"the {name} of item {culprit!r} is missing or of the wrong type"
