"""What each tool does to the grid and the budgets of one episode, and what it answers."""

from collections import Counter
from collections.abc import Callable
from operator import eq, ge, gt, le, lt
from typing import Any

from agenthard.ace.domain import Domain
from agenthard.ace.environment.arguments import Arguments, Fields, RefusedCallError, as_cell, as_ids
from agenthard.ace.environment.board import Board, Place
from agenthard.ace.environment.budgets import Budgets
from agenthard.ace.environment.mode import Mode
from agenthard.ace.environment.tools import Kind
from agenthard.ace.instance import Cell, Puzzle, Value

Data = dict[str, Any]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "=": eq, "<": lt, "<=": le}


class Toolbox:
    """The tools of one episode, with its state. Only queries and checks of a full grid use up a budget."""

    def __init__(self, puzzle: Puzzle, domain: Domain, mode: Mode, budgets: Budgets) -> None:
        self.board = Board(puzzle, domain)
        """The grid."""
        self.queries: Counter[Cell] = Counter()
        """Queries answered, by slot."""
        self.global_checks = 0
        """Global checks answered."""
        self._items = puzzle.items
        self._mode = mode
        self._fields = Fields(domain)
        self._query_budgets = {slot.cell: budgets.queries(puzzle, slot) for slot in puzzle.slots}
        self._global_budget = budgets.global_checks(puzzle)
        self._columns: dict[tuple[Cell, str], list[tuple[str, Value]]] = {}

    def handlers(self) -> dict[Kind, Callable[[Arguments], Data]]:
        """Returns what carries out each tool but `done`, which is about the episode and not about the grid.

        Returns:
            A function per tool: it takes the arguments of a call, returns the data, or raises `RefusedCallError`.
        """
        return {
            Kind.SET_SLOT: self._set_slot,
            Kind.GRID: self._grid,
            Kind.SLOT_BUDGET: self._slot_budget,
            Kind.GLOBAL_BUDGET: self._global_checks_left,
            Kind.SLOT_ID: self._slot_id,
            Kind.QUERY: self._query,
            Kind.ITEM_INFO: self._item_info,
            Kind.ITEM_ATTRIBUTES: self._item_attributes,
            Kind.CHECK_SLOT: self._check_slot,
            Kind.CHECK_GLOBAL: self._check_global,
        }

    def _set_slot(self, arguments: Arguments) -> Data:
        cell = self._cell(arguments)
        place = self.board.places.get(cell)
        row, col = cell
        if place is None:
            raise RefusedCallError(f"Slot (row={row}, col={col}) is fixed and cannot be modified")
        id = arguments.get("id")
        if id is None or id == "":
            if place.item is None:
                raise RefusedCallError(f"Slot (row={row}, col={col}) is already empty.")
            self.board.put(place, None)
            return {"row": row, "col": col, "id": None, "message": "Hidden slot cleared."}
        if not isinstance(id, str) or id not in place.allowed:
            reason = f"Slot (row={row}, col={col}) can only be set to one of its candidate ids."
            if self._mode is Mode.REFERENCE:
                reason += f" Allowed ids: {sorted(place.allowed)}"
            raise RefusedCallError(reason)
        self.board.put(place, id)
        return {"row": row, "col": col, "id": id, "message": "Hidden slot updated."}

    def _grid(self, arguments: Arguments) -> Data:
        return {"slots": [list(row) for row in self.board.grid]}

    def _slot_id(self, arguments: Arguments) -> Data:
        cell = self._cell(arguments)
        return {"row": cell[0], "col": cell[1], "id": self.board[cell]}

    def _slot_budget(self, arguments: Arguments) -> Data:
        place = self._place(arguments, "Hidden-slot query budget is only available for hidden slots.")
        cell = place.slot.cell
        budget, used = self._query_budgets[cell], self.queries[cell]
        return {
            "row": cell[0],
            "col": cell[1],
            "unlimited": budget is None,
            "query_budget": "unlimited" if budget is None else budget,
            "query_calls": used,
            "remaining_queries": "unlimited" if budget is None else budget - used,
        }

    def _global_checks_left(self, arguments: Arguments) -> Data:
        budget = self._global_budget
        return {
            "remaining_global_checks": None if budget is None else budget - self.global_checks,
            "global_check_budget": budget,
            "global_check_calls": self.global_checks,
        }

    def _query(self, arguments: Arguments) -> Data:
        place = self._place(arguments, "Attribute candidate queries are only allowed for hidden slots.")
        cell = place.slot.cell
        budget = self._query_budgets[cell]
        if budget is not None and self.queries[cell] >= budget:
            where = f"slot (row={cell[0]}, col={cell[1]})"
            raise RefusedCallError(f"Hidden slot query budget exhausted for {where}. Remaining queries: 0.")
        field, operator, value = self._fields.condition(arguments)
        column = self._column(place, field)
        if compare := _COMPARE.get(operator):
            found = [pair for pair in column if compare(pair[1], value)]
        else:
            wanted = operator == "in"
            found = [pair for pair in column if (pair[1] in value) is wanted]
        self.queries[cell] += 1
        matches = [id for id, _ in found] if self._mode is Mode.PAPER else [{"id": id, field: v} for id, v in found]
        return {
            "row": cell[0],
            "col": cell[1],
            "field": field,
            "operator": operator,
            "value": value,
            "matches": matches,
            "remaining_budget": None if budget is None else budget - self.queries[cell],
        }

    def _item_info(self, arguments: Arguments) -> Data:
        id = arguments["id"]
        if not isinstance(id, str) or id not in self.board.fixed:
            raise RefusedCallError(f"Item id {id} is not accessible. You may only inspect ids from non-hidden slots.")
        return {"id": id, "item": dict(self.board.fixed[id])}

    def _item_attributes(self, arguments: Arguments) -> Data:
        ids = as_ids(arguments["ids"])
        fields = self._fields.selection(arguments["field"])
        hidden = [id for id in ids if id not in self.board.fixed]
        if hidden:
            raise RefusedCallError(f"ids contain inaccessible item(s): {', '.join(hidden)}")
        self._fields.require(fields)
        items: dict[str, Any] = {}
        for id in ids:
            item = self.board.fixed[id]
            items[id] = item[fields[0]] if len(fields) == 1 else {field: item[field] for field in fields}
        return {"fields": fields, "items": items, "missing_ids": []}

    def _check_slot(self, arguments: Arguments) -> Data:
        place = self._place(arguments, "Slot constraint checks are only allowed for hidden slots.")
        row, col = place.slot.cell
        if place.item is None:
            raise RefusedCallError(f"Slot (row={row}, col={col}) has not been filled yet.")
        return {"is_valid": place.accepts(place.item), "row": row, "col": col}

    def _check_global(self, arguments: Arguments) -> Data:
        if not self.board.full:
            raise RefusedCallError("The current grid must be fully filled before global constraints can be checked.")
        budget = self._global_budget
        if budget is not None and self.global_checks >= budget:
            raise RefusedCallError(
                f"Global constraint check budget exhausted. Used {self.global_checks}/{budget} calls."
            )
        self.global_checks += 1
        whole = self._mode is Mode.REFERENCE
        return {"is_valid": self.board.globals_hold() and (not whole or self.board.slots_hold())}

    def _cell(self, arguments: Arguments) -> Cell:
        cell = as_cell(arguments)
        if cell not in self.board:
            raise RefusedCallError(f"Invalid slot (row={cell[0]}, col={cell[1]})")
        return cell

    def _place(self, arguments: Arguments, otherwise: str) -> Place:
        place = self.board.places.get(self._cell(arguments))
        if place is None:
            raise RefusedCallError(otherwise)
        return place

    def _column(self, place: Place, field: str) -> list[tuple[str, Value]]:
        key = place.slot.cell, field
        if key not in self._columns:
            self._columns[key] = [(id, self._items[id][field]) for id in place.slot.candidates]
        return self._columns[key]
