"""Query plans: queries within a budget from whose answers, ids only, the solution follows.

Uniqueness says that one filling meets all rules; it does not say that an agent who may ask a slot only so many
questions can tell which. A plan lists questions. Their answers bound what each candidate can add to each sum; when an
exact search with the least that is possible finds one filling only, the answers prove it to be the solution. Where it
finds a few, the global check tells them apart.

A plan grows by counterexamples: the search yields fillings that the answers so far do not refute, and the query is
added that brings most of them nearest to breaking a rule that they really break.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agenthard.ace import domains
from agenthard.ace.domain import Number
from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.environment.prompts import value_ranges
from agenthard.ace.environment.tools import Kind
from agenthard.ace.instance import Instance, Puzzle, QueryPlan, QueryStep
from agenthard.ace.proof.knowledge import OPERATORS, Knowledge, matches
from agenthard.ace.proof.search import fill
from agenthard.ace.proof.sums import Sum, sums
from agenthard.ace.rules import broken_slot_rules

_SEEN = 64
"""Fillings that are refuted together."""
_NODES = 500_000
"""Partial fillings after which a search gives up; the plan then counts as not sufficient."""
_MOST_EXTRA = 64
"""Extra queries up to which a sufficient plan is looked for."""

Ints = NDArray[np.int64]


@dataclass
class _Slot:
    index: int
    row: int
    left: list[str]
    """Candidates that the slot's own rules leave."""
    knowledge: Knowledge
    loads: Ints
    """What each of them adds to each sum."""
    least: Ints
    """The least that each may add by what is known."""
    asked: list[QueryStep]
    """Queries so far, those for the slot's own rules first."""
    budget: int
    """Queries allowed."""


def find_plan(instance: Instance) -> QueryPlan | None:
    """Look for a plan within the paper's budgets, and else for one with as few further queries as can be found.

    Args:
        instance: An instance that holds together (``agenthard.ace.proof.structure``) and has one solution.

    Returns:
        The plan; None if none was found.
    """
    extra = Budgets().extra_queries
    while extra <= _MOST_EXTRA:
        plan = _grown(instance, extra)
        if plan is not None:
            return plan
        extra += 1 if extra < 8 else 4
    return None


def plan_problem(instance: Instance, plan: QueryPlan) -> str | None:
    """Carry out a plan in the paper's environment, and say why it does not lead to the solution.

    Args:
        instance: An instance that holds together.
        plan: The plan, from wherever it comes.

    Returns:
        The reason; None when it leads there.
    """
    puzzle, domain = instance.puzzle, domains.load(instance.puzzle.domain)
    if plan.extra_queries < 0:
        return "the query plan has no limit on its queries"
    budgets = Budgets(extra_queries=plan.extra_queries)
    environment = Environment(puzzle, mode=Mode.PAPER, budgets=budgets)
    every, ranges = list(sums(domain, puzzle)), value_ranges(puzzle, domain)
    notes = [Knowledge(domain, ranges, slot.candidates) for slot in puzzle.slots]
    for step in plan.steps:
        if not 0 <= step.slot < len(puzzle.slots):
            return f"the query plan asks about slot {step.slot}, and there is none"
        if step.operator not in OPERATORS or step.field not in ranges:
            return f"the query plan asks in a way that tells nothing here: {step.field} {step.operator}"
        slot = puzzle.slots[step.slot]
        asked = {"row": slot.row, "col": slot.col, "field": step.field, "operator": step.operator, "value": step.value}
        answer = environment.call(Kind.QUERY.of(puzzle.domain), asked)
        if answer["status"] != "success":
            return f"a query of the plan is refused: {answer['messages']}"
        notes[step.slot].learn(step, answer["data"]["matches"])
    # A candidate may stay in play unless the answers say that it breaks a rule of its slot.
    left = [note.allowed(slot) for note, slot in zip(notes, puzzle.slots, strict=True)]
    least = [_least(note, every, ids, slot.row) for note, ids, slot in zip(notes, left, puzzle.slots, strict=True)]
    room = np.array([each.limit - each.of_fixed(puzzle) for each in every], dtype=np.int64)
    allowed = budgets.global_checks(puzzle) or 0
    found = fill(least, room, allowed + 2, _NODES)
    if not found.complete:
        return "the query plan leaves more fillings than could be counted"
    solution = tuple(ids.index(known.truth) for ids, known in zip(left, instance.answer.slots, strict=True))
    if solution not in found.choices or len(found.choices) > allowed + 1:
        return f"the query plan leaves {len(found.choices)} fillings or more, and {allowed} checks to tell them apart"
    if len(found.choices) - 1 != plan.checks:
        return f"the query plan names {plan.checks} checks, and {len(found.choices) - 1} are needed"
    return None


def _grown(instance: Instance, extra: int) -> QueryPlan | None:
    puzzle, domain = instance.puzzle, domains.load(instance.puzzle.domain)
    budgets = Budgets(extra_queries=extra)
    every = list(sums(domain, puzzle))
    room = np.array([each.limit - each.of_fixed(puzzle) for each in every], dtype=np.int64)
    slots = [_start(puzzle, index, every, budgets) for index in range(len(puzzle.slots))]
    truth = tuple(slot.left.index(known.truth) for slot, known in zip(slots, instance.answer.slots, strict=True))
    checks = budgets.global_checks(puzzle) or 0
    while True:
        found = fill([slot.least for slot in slots], room, max(_SEEN, checks + 2), _NODES)
        wrong = np.array([each for each in found.choices if each != truth], dtype=np.int64)
        if found.complete and len(wrong) <= checks:
            steps = tuple(step for slot in slots for step in slot.asked)
            return QueryPlan(steps, len(wrong), extra)
        if not len(wrong) or not _ask_best(puzzle, slots, every, room, wrong):
            return None


def _start(puzzle: Puzzle, index: int, every: Sequence[Sum], budgets: Budgets) -> _Slot:
    """Ask for what meets the slot's own rules, and where one candidate is left for all that the sums need of it."""
    slot, domain = puzzle.slots[index], domains.load(puzzle.domain)
    left = [id for id in slot.candidates if not broken_slot_rules(domain, slot.limits, puzzle.items[id])]
    note = Knowledge(domain, value_ranges(puzzle, domain), slot.candidates)
    loads = np.array([[each.load(puzzle.items[id], slot.row) for each in every] for id in left], dtype=np.int64)
    asked: list[QueryStep] = []
    for name, threshold in slot.limits.items():
        rule = domain.slot_rule(name)
        asked.append(QueryStep(index, rule.attribute, "<=" if rule.bound == "max" else ">=", threshold))
    made = _Slot(index, slot.row, left, note, loads, loads, [], budgets.queries(puzzle, slot) or 0)
    if len(left) == 1:
        item = puzzle.items[left[0]]
        for field in dict.fromkeys(each.rule.attribute for each in every):
            number = isinstance(domain.attribute(field), Number)
            asked.append(
                QueryStep(index, field, "=", int(item[field]))
                if number
                else QueryStep(index, field, "in", words=(str(item[field]),))
            )
    for step in asked[: made.budget]:
        _ask(puzzle, made, every, step)
    made.least = _least(note, every, left, slot.row)
    return made


def _ask(puzzle: Puzzle, slot: _Slot, every: Sequence[Sum], step: QueryStep) -> None:
    slot.knowledge.learn(step, [id for id in puzzle.slots[slot.index].candidates if matches(step, puzzle.items[id])])
    slot.asked.append(step)
    slot.least = _least(slot.knowledge, every, slot.left, slot.row)


def _least(note: Knowledge, every: Sequence[Sum], ids: Sequence[str], row: int) -> Ints:
    return np.array([[note.least(each, id, row) for each in every] for id in ids], dtype=np.int64)


def _ask_best(puzzle: Puzzle, slots: Sequence[_Slot], every: Sequence[Sum], room: Ints, wrong: Ints) -> bool:
    """Ask the query that brings the fillings nearest to being refuted; False when no query helps."""
    true = np.sum([slot.loads[wrong[:, slot.index]] for slot in slots], axis=0)
    known = np.sum([slot.least[wrong[:, slot.index]] for slot in slots], axis=0)
    gap = np.where(true > room, room + 1 - known, 0)
    best: tuple[float, _Slot, QueryStep] | None = None
    for slot in slots:
        if len(slot.asked) >= slot.budget:
            continue
        for step, gain in _gains(puzzle, slot, every):
            share = np.where(gap > 0, np.minimum(gain[wrong[:, slot.index]] / np.maximum(gap, 1), 1), 0)
            score = round(float(share.max(axis=1).sum()), 9)
            if score > 0 and (best is None or score > best[0]):
                best = score, slot, step
    if best is None:
        return False
    _ask(puzzle, best[1], every, best[2])
    return True


def _gains(puzzle: Puzzle, slot: _Slot, every: Sequence[Sum]) -> list[tuple[QueryStep, Ints]]:
    """The queries that tell more about some candidate, each with how much it raises the least of every one."""
    found: dict[QueryStep, Ints] = {}
    unknown = slot.loads - slot.least
    for column, each in enumerate(every):
        rising = np.flatnonzero(unknown[:, column] > 0)
        for at in rising.tolist():
            own = puzzle.items[slot.left[at]][each.rule.attribute]
            for step in _steps(slot.index, each, own):
                if step not in found:
                    found[step] = _raised(puzzle, slot, every, step) - slot.least
    return list(found.items())


def _steps(index: int, each: Sum, own: int | str) -> list[QueryStep]:
    field = each.rule.attribute
    if isinstance(own, str):
        return [QueryStep(index, field, "in", words=(str(each.rule.counted or own),))]
    if each.rule.kind == "count_min_threshold":
        return [QueryStep(index, field, ">=", int(each.rule.counted or 0))]
    return [QueryStep(index, field, "<=" if each.rule.kind.is_floor else ">=", own)]


def _raised(puzzle: Puzzle, slot: _Slot, every: Sequence[Sum], step: QueryStep) -> Ints:
    after = slot.knowledge.copy()
    after.learn(step, [id for id in slot.left if matches(step, puzzle.items[id])])
    return _least(after, every, slot.left, slot.row)
