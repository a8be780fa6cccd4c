"""The flaws of the demo's ACE-Bench suite: changes that make a proved instance wrong, each with its check."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agenthard.ace import domains
from agenthard.ace.domain import Bound, Domain, GlobalKind
from agenthard.ace.instance import Instance, Puzzle, Slot, SlotAnswer
from agenthard.ace.proof.stages import stages
from agenthard.ace.rules import filling, measure
from agenthard.ace.wording import instruction
from agenthard.flows.demo.benchmark import QUARANTINE

Entry: TypeAlias = dict[str, Any]
"""An instance in the format of its file."""


@dataclass(frozen=True)
class AceFlaw:
    """A change that makes an instance wrong."""

    check: str
    """Id of the check that is expected to find it, or ``QUARANTINE``."""
    category: str
    """Taxonomy category; empty for an instance that cannot be read."""
    change: str
    """Description of the change."""
    apply: Callable[[Instance], Instance] = lambda instance: instance
    """A change after which the instance can still be written."""
    damage: Callable[[Entry], object] = lambda entry: None
    """A change of the written entry, in place."""
    copied: bool = False
    """Whether the changed instance is added to the original, under another id."""


def _decoy_slot(instance: Instance) -> int:
    return instance.answer.decoy_slots[0]


def _domain(instance: Instance) -> Domain:
    return domains.load(instance.puzzle.domain)


def _with_answer(instance: Instance, index: int, known: SlotAnswer) -> Instance:
    slots = list(instance.answer.slots)
    slots[index] = known
    truths = {slot.cell: each.truth for slot, each in zip(instance.puzzle.slots, slots, strict=True)}
    answer = replace(instance.answer, slots=tuple(slots), solution=instance.puzzle.filled(truths))
    return replace(instance, answer=answer)


def _with_slot(instance: Instance, index: int, slot: Slot) -> Instance:
    slots = list(instance.puzzle.slots)
    slots[index] = slot
    return _reworded(instance, replace(instance.puzzle, slots=tuple(slots)))


def _reworded(instance: Instance, puzzle: Puzzle) -> Instance:
    """Return the instance with another puzzle, whose text states its new rules."""
    text = instruction(_domain(instance), puzzle.rows, puzzle.cols, puzzle.limits, puzzle.slots)
    return replace(instance, puzzle=replace(puzzle, instruction=text))


def _with_values(instance: Instance, target: str, source: str) -> Instance:
    """Return the instance with the values of one item copied to another, which keeps its id and its name."""
    items, key = instance.puzzle.items, _domain(instance).id_key
    changed = {**items[source], key: target, "name": items[target]["name"]}
    return replace(instance, puzzle=replace(instance.puzzle, items={**items, target: changed}))


def _decoy_as_truth(instance: Instance) -> Instance:
    index = _decoy_slot(instance)
    known = instance.answer.slots[index]
    decoys = (known.truth, *known.decoys[1:])
    return _with_answer(instance, index, replace(known, truth=known.decoys[0], decoys=decoys))


def _filter_as_truth(instance: Instance) -> Instance:
    known = instance.answer.slots[0]
    filters = (known.truth, *known.filters[1:])
    return _with_answer(instance, 0, replace(known, truth=known.filters[0], filters=filters))


def _second_solution(instance: Instance) -> Instance:
    known = instance.answer.slots[_decoy_slot(instance)]
    return _with_values(instance, known.decoys[0], known.truth)


def _filter_meets_rules(instance: Instance) -> Instance:
    known = instance.answer.slots[_decoy_slot(instance)]
    return _with_values(instance, known.filters[0], known.decoys[0])


def _decoy_breaks_rules(instance: Instance) -> Instance:
    known = instance.answer.slots[_decoy_slot(instance)]
    return _with_values(instance, known.decoys[0], known.filters[0])


def _tight_slot(instance: Instance) -> Instance:
    slot, truth = instance.puzzle.slots[0], instance.puzzle.items[instance.answer.slots[0].truth]
    rule = _domain(instance).slot_rule(next(iter(slot.limits)))
    limit = int(truth[rule.attribute]) + (-1 if rule.bound is Bound.MAX else 1)
    return _with_slot(instance, 0, replace(slot, limits={**slot.limits, rule.name: limit}))


def _tight_grid(instance: Instance) -> Instance:
    puzzle = instance.puzzle
    rule = next(rule for rule in _domain(instance).global_rules if rule.kind is GlobalKind.SUM_MAX)
    limit = measure(rule, filling(puzzle, instance.answer.solution)) - 1
    return _reworded(instance, replace(puzzle, limits={**puzzle.limits, rule.name: limit}))


def _other_text(instance: Instance) -> Instance:
    puzzle = instance.puzzle
    name, limit = next(iter(puzzle.limits.items()))
    text = instruction(_domain(instance), puzzle.rows, puzzle.cols, {**puzzle.limits, name: limit + 10}, puzzle.slots)
    return replace(instance, puzzle=replace(puzzle, instruction=text))


def _missing_item(instance: Instance) -> Instance:
    gone = instance.answer.slots[0].filters[0]
    items = {id: item for id, item in instance.puzzle.items.items() if id != gone}
    return replace(instance, puzzle=replace(instance.puzzle, items=items))


def _shared_candidate(instance: Instance) -> Instance:
    slot, known, shared = instance.puzzle.slots[1], instance.answer.slots[1], instance.answer.slots[0].filters[0]
    candidates = tuple(shared if id == known.filters[0] else id for id in slot.candidates)
    changed = _with_slot(instance, 1, replace(slot, candidates=candidates))
    return _with_answer(changed, 1, replace(known, filters=(shared, *known.filters[1:])))


def _false_stage(instance: Instance) -> Instance:
    real = stages(_domain(instance), instance)
    index = next(index for index, level in enumerate(real) if level is not None and level > 1)
    return _with_answer(instance, index, replace(instance.answer.slots[index], stage=1))


def _false_count(entry: Entry) -> None:
    entry["meta"]["branch_budget"] += 1


_PROOF, _WRONG = "ace-proof", "incorrect-tool-call"

ACE_FLAWS = (
    AceFlaw(_PROOF, _WRONG, "a decoy is recorded as the truth, and the truth as a decoy", _decoy_as_truth),
    AceFlaw(_PROOF, _WRONG, "a filter is recorded as the truth, and the truth as a filter", _filter_as_truth),
    AceFlaw(_PROOF, _WRONG, "a decoy has the truth's values: there is a second solution", _second_solution),
    AceFlaw(_PROOF, _WRONG, "a filter has a decoy's values, and so meets the rules of its slot", _filter_meets_rules),
    AceFlaw(_PROOF, _WRONG, "a decoy has a filter's values, and so breaks a rule of its slot", _decoy_breaks_rules),
    AceFlaw(_PROOF, _WRONG, "a rule of a slot is tightened until the truth breaks it", _tight_slot),
    AceFlaw(_PROOF, _WRONG, "a limit of the whole grid is lowered until the solution breaks it", _tight_grid),
    AceFlaw(_PROOF, "ambiguous-instruction", "the text states another limit of the whole grid", _other_text),
    AceFlaw(_PROOF, _WRONG, "a candidate is missing from the item pool", _missing_item),
    AceFlaw(_PROOF, _WRONG, "two slots offer the same candidate", _shared_candidate),
    AceFlaw(_PROOF, _WRONG, "the decoys of a slot are recorded on preference level 1 and are not", _false_stage),
    AceFlaw("duplicate-task", "duplicate-or-conflicting-task", "the instance is in the file twice", copied=True),
    AceFlaw(QUARANTINE, "", "the recorded solution is gone", damage=lambda entry: entry.pop("truth_solution")),
    AceFlaw(QUARANTINE, "", "the decoy budget that is stated is one too high", damage=_false_count),
)
