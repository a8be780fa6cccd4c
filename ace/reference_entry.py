"""One instance in the JSON layout of the paper's files: encoded, and decoded with every redundancy checked."""

import json
from typing import Any

from agenthard.ace.errors import MalformedInstanceError
from agenthard.ace.instance import Answer, Grid, Instance, Item, Puzzle, Slot, SlotAnswer

__all__ = ["MalformedInstanceError", "as_count", "as_text", "decode", "difference", "encode"]

_LABELS = {None: None, 1: "tier_1", 2: "tier_2", 3: "tier_3", 4: "hard_only"}
_LEGACY = ("row_constraints", "col_constraints")


def encode(instance: Instance) -> dict[str, Any]:
    """Returns an instance as the layout has it.

    Args:
        instance: The instance; its certificate and provenance have no place in the layout.

    Returns:
        JSON data, keys in the layout's order.
    """
    puzzle, answer = instance.puzzle, instance.answer
    decoy_slots = answer.decoy_slots
    stage = max((answer.slots[index].stage or 0 for index in decoy_slots), default=0)
    return {
        "domain": puzzle.domain,
        "meta": {
            "rows": puzzle.rows,
            "cols": puzzle.cols,
            "hidden_slots": len(puzzle.slots),
            "branch_budget": answer.decoy_budget,
            "branch_slot_count": len(decoy_slots),
            "branch_budget_allocations": [len(answer.slots[index].decoys) for index in decoy_slots],
            "candidates_per_slot": puzzle.candidates_per_slot,
            "requested_candidates_per_slot": puzzle.candidates_per_slot,
            "decoy_generation_final_stage": stage,
            "decoy_generation_final_stage_label": _LABELS[stage] if stage else "not_applicable",
        },
        "global_constraints": {"global": "global", **puzzle.limits},
        "item_pool": puzzle.items,
        "truth_solution": [list(row) for row in answer.solution],
        "partial_solution": [list(row) for row in puzzle.grid],
        "hidden_slots": [{"row": slot.row, "col": slot.col} for slot in puzzle.slots],
        "slots": [_slot_entry(puzzle, answer, index) for index in range(len(puzzle.slots))],
        "task_instruction": puzzle.instruction,
        "instance_id": puzzle.id,
    }


def decode(entry: object) -> Instance:
    """Makes an instance of JSON data in the layout.

    Args:
        entry: The data.

    Returns:
        The instance, without certificate and provenance.

    Raises:
        MalformedInstanceError: A part is missing, of the wrong type, or at odds with another part.
    """
    data = _object(entry, "")
    try:
        instance = _instance(data)
    except KeyError as error:
        raise MalformedInstanceError(f"the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise MalformedInstanceError(f"a part has the wrong type: {error}") from error
    known = {key: value for key, value in data.items() if key not in _LEGACY or value}
    departure = difference(known, encode(instance), "")
    if departure:
        raise MalformedInstanceError(departure)
    return instance


def _slot_entry(puzzle: Puzzle, answer: Answer, index: int) -> dict[str, Any]:
    slot, known, decoy_slots = puzzle.slots[index], answer.slots[index], answer.decoy_slots
    rank = decoy_slots.index(index) if known.decoys else None
    label = "last_branch_hard_only" if rank == len(decoy_slots) - 1 else _LABELS[known.stage]
    return {
        "row": slot.row,
        "col": slot.col,
        "truth_id": known.truth,
        "is_hidden": True,
        "slot_constraints": {
            "row": slot.row,
            "col": slot.col,
            "active_rule_names": list(slot.limits),
            **slot.limits,
        },
        "candidate_ids": list(slot.candidates),
        "decoy_ids": list(known.decoys),
        "filter_candidate_ids": list(known.filters),
        "is_branch_slot": rank is not None,
        "branch_rank": rank,
        "allocated_budget": len(known.decoys),
        "decoy_generation_final_stage": known.stage,
        "decoy_generation_final_stage_label": label,
    }


def _instance(data: dict[str, Any]) -> Instance:
    meta, slots = data["meta"], data["slots"]
    puzzle = Puzzle(
        id=as_text(data["instance_id"]),
        domain=as_text(data["domain"]),
        rows=as_count(meta["rows"]),
        cols=as_count(meta["cols"]),
        candidates_per_slot=as_count(meta["candidates_per_slot"]),
        limits={name: as_count(value) for name, value in data["global_constraints"].items() if name != "global"},
        items=_items(data["item_pool"]),
        grid=_grid(data["partial_solution"]),
        slots=tuple(
            Slot(
                row=as_count(slot["row"]),
                col=as_count(slot["col"]),
                limits={
                    name: as_count(slot["slot_constraints"][name])
                    for name in slot["slot_constraints"]["active_rule_names"]
                },
                candidates=_ids(slot["candidate_ids"]),
            )
            for slot in slots
        ),
        instruction=as_text(data["task_instruction"]),
    )
    answer = Answer(
        solution=_grid(data["truth_solution"]),
        slots=tuple(
            SlotAnswer(
                truth=as_text(slot["truth_id"]),
                decoys=_ids(slot["decoy_ids"]),
                filters=_ids(slot["filter_candidate_ids"]),
                stage=slot["decoy_generation_final_stage"],
            )
            for slot in slots
        ),
    )
    if any(slot.stage not in _LABELS for slot in answer.slots):
        raise MalformedInstanceError("a slot's decoy_generation_final_stage is not one of 1, 2, 3, 4, null")
    return Instance(puzzle, answer)


def difference(found: object, expected: object, where: str = "") -> str | None:
    """Says where two pieces of JSON data first differ.

    Args:
        found: What the file has.
        expected: What it should have.
        where: JSON Pointer of both.

    Returns:
        A clause with the pointer, or None when they are equal (the order of keys aside).
    """
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in [*expected, *found]:
            if key not in found or key not in expected:
                return f"{where}/{key} is {'missing' if key in expected else 'not part of the layout'}"
            if departure := difference(found[key], expected[key], f"{where}/{key}"):
                return departure
        return None
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return next((d for index, (a, b) in pairs if (d := difference(a, b, f"{where}/{index}"))), None)
    if type(found) is type(expected) and found == expected:
        return None
    return f"{where or 'it'} is {_short(found)}, the rest of it says {_short(expected)}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedInstanceError(f"{what or 'an instance'} must be a JSON object, not {_short(value)}")
    return value


def as_text(value: object) -> str:
    """Returns a value that must be text.

    Args:
        value: The value.

    Returns:
        The same value.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, str):
        raise TypeError(f"{_short(value)} should be text")
    return value


def as_count(value: object) -> int:
    """Returns a value that must be a whole number.

    Args:
        value: The value.

    Returns:
        The same value.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{_short(value)} should be a whole number")
    return value


def _ids(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"{_short(values)} should be a list of ids")
    return tuple(map(as_text, values))


def _grid(rows: object) -> Grid:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise TypeError(f"{_short(rows)} should be a list of rows")
    return tuple(tuple(None if item is None else as_text(item) for item in row) for row in rows)


def _items(pool: object) -> dict[str, Item]:
    for item in _object(pool, "item_pool").values():
        for value in _object(item, "an item").values():
            if not isinstance(value, str):
                as_count(value)
    return pool  # type: ignore[return-value]
