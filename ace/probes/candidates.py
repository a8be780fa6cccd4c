"""An instance in the neutral layout in which any benchmark states the candidates it offers."""

from typing import Any

from agenthard.ace import domains
from agenthard.ace.domain import Bound, Domain
from agenthard.ace.instance import Instance, Item, Slot
from agenthard.ace.probes.look_ahead import look_ahead


def candidates_of(instance: Instance, *, slack: bool = False) -> dict[str, Any]:
    """Return the choices of an instance as plain JSON data (``agenthard.audit.probes.read_scene`` reads it).

    Everything but the answer comes from the public part: candidates in the order of the file, the slot's own rules,
    the items of the grid, the order of the item pool. The decoy budget is the group that look-ahead is reported by.

    Args:
        instance: The instance.
        slack: Whether to state the margins to the global rules, from which look-ahead can be learned.

    Returns:
        An object with ``kind``, ``group``, ``shown``, ``pool`` and ``sets``.
    """
    puzzle = instance.puzzle
    domain = domains.load(puzzle.domain)
    shown = [_item(domain, puzzle.items[id]) for row in puzzle.grid for id in row if id is not None]
    looks = look_ahead(domain, puzzle)
    sets = [
        {
            "id": f"({slot.row}, {slot.col})",
            "candidates": [_item(domain, puzzle.items[id]) for id in slot.candidates],
            "truth": answer.truth,
            "rules": _rules(domain, slot),
            **({"slack": {rule: by_slot[index] for rule, by_slot in looks.margins.items()}} if slack else {}),
            "look_ahead": {way: by_slot[index] for way, by_slot in looks.scores.items()},
        }
        for index, (slot, answer) in enumerate(zip(puzzle.slots, instance.answer.slots, strict=True))
    ]
    group = f"B = {instance.answer.decoy_budget}"
    return {"kind": puzzle.domain, "group": group, "shown": shown, "pool": list(puzzle.items), "sets": sets}


def _item(domain: Domain, item: Item) -> dict[str, Any]:
    return {"id": item[domain.id_key], **{key: value for key, value in item.items() if key != domain.id_key}}


def _rules(domain: Domain, slot: Slot) -> list[dict[str, Any]]:
    rules = ((domain.slot_rule(name), limit) for name, limit in slot.limits.items())
    return [{"attribute": rule.attribute, "max" if rule.bound is Bound.MAX else "min": limit} for rule, limit in rules]
