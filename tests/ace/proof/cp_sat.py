"""An oracle for the search: the same puzzle as a constraint program for OR-tools, written from the rules alone."""

from ortools.sat.python import cp_model

from agenthard.ace import domains
from agenthard.ace.domain import Bound, GlobalKind
from agenthard.ace.instance import Item, Puzzle


def count_solutions(puzzle: Puzzle, most: int = 2) -> int:
    """Number of solutions, counted up to ``most``."""
    domain = domains.load(puzzle.domain)
    model = cp_model.CpModel()
    placed: list[tuple[int, Item, cp_model.IntVar | int]] = [
        (row, puzzle.items[id], 1) for row, line in enumerate(puzzle.grid) for id in line if id is not None
    ]
    choices: list[cp_model.IntVar] = []
    for slot in puzzle.slots:
        picks = {id: model.new_bool_var(id) for id in slot.candidates}
        model.add_exactly_one(picks.values())
        choices += picks.values()
        placed += [(slot.row, puzzle.items[id], pick) for id, pick in picks.items()]
        for name, threshold in slot.limits.items():
            rule = domain.slot_rule(name)
            value = sum(int(puzzle.items[id][rule.attribute]) * pick for id, pick in picks.items())
            model.add(value <= threshold if rule.bound is Bound.MAX else value >= threshold)
    for rule in domain.global_rules:
        limit, key = puzzle.limits[rule.name], rule.attribute
        match rule.kind:
            case GlobalKind.SUM_MAX:
                model.add(sum(int(item[key]) * pick for _, item, pick in placed) <= limit)
            case GlobalKind.SUM_MIN:
                model.add(sum(int(item[key]) * pick for _, item, pick in placed) >= limit)
            case GlobalKind.REPEAT_MAX:
                for value in {item[key] for _, item, _ in placed}:
                    model.add(sum(pick for _, item, pick in placed if item[key] == value) <= limit)
            case GlobalKind.COUNT_MIN:
                model.add(sum(pick for _, item, pick in placed if item[key] == rule.counted) >= limit)
            case GlobalKind.COUNT_MIN_THRESHOLD:
                model.add(sum(pick for _, item, pick in placed if int(item[key]) >= int(rule.counted or 0)) >= limit)
            case GlobalKind.MAX_ROW_SUM:
                for at in range(puzzle.rows):
                    model.add(sum(int(item[key]) * pick for row, item, pick in placed if row == at) <= limit)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    found = 0
    while found < most and solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found += 1
        chosen = [choice for choice in choices if solver.value(choice)]
        model.add_bool_or(choice.negated() for choice in chosen)
    return found
