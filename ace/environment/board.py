"""The grid of one episode: which item is where, and whether it is allowed, updated with every change."""

from agenthard.ace.domain import Domain, SlotRule
from agenthard.ace.environment.tallies import tally
from agenthard.ace.instance import Cell, Grid, Item, Puzzle, Slot
from agenthard.ace.rules import meets


class Place:
    """A slot of the board and the item in it."""

    __slots__ = ("allowed", "item", "slot", "_items", "_rules", "_verdicts")

    def __init__(self, slot: Slot, domain: Domain, items: dict[str, Item]) -> None:
        self.slot = slot
        """The slot."""
        self.item: str | None = None
        """Id of the item in it; None when it is empty."""
        self.allowed = frozenset(slot.candidates)
        """Ids of its candidates."""
        self._rules: list[tuple[SlotRule, int]] = [(domain.slot_rule(name), t) for name, t in slot.limits.items()]
        self._items = items
        self._verdicts: dict[str, bool] = {}

    def accepts(self, item: str) -> bool:
        """Tells whether a candidate meets the rules of the slot.

        Args:
            item: Id of a candidate.

        Returns:
            True when it breaks none.
        """
        verdict = self._verdicts.get(item)
        if verdict is None:
            verdict = all(meets(rule, threshold, self._items[item]) for rule, threshold in self._rules)
            self._verdicts[item] = verdict
        return verdict


class Board:
    """A grid that can be changed, with running totals for every global rule."""

    def __init__(self, puzzle: Puzzle, domain: Domain) -> None:
        self.places: dict[Cell, Place] = {slot.cell: Place(slot, domain, puzzle.items) for slot in puzzle.slots}
        """The slots by cell."""
        self.fixed: dict[str, Item] = {id: puzzle.items[id] for row in puzzle.grid for id in row if id is not None}
        """The items in the grid from the start, by id."""
        self._items = puzzle.items
        self._grid = [list(row) for row in puzzle.grid]
        self._empty = len(self.places)
        self._rule_breakers = 0
        self._tallies = [tally(rule, puzzle.limits[rule.name], puzzle.rows) for rule in domain.global_rules]
        for row, line in enumerate(puzzle.grid):
            for id in line:
                if id is not None:
                    for total in self._tallies:
                        total.swap(None, puzzle.items[id], row)

    def __contains__(self, cell: Cell) -> bool:
        return 0 <= cell[0] < len(self._grid) and 0 <= cell[1] < len(self._grid[cell[0]])

    def __getitem__(self, cell: Cell) -> str | None:
        return self._grid[cell[0]][cell[1]]

    @property
    def grid(self) -> Grid:
        """The current grid."""
        return tuple(map(tuple, self._grid))

    @property
    def full(self) -> bool:
        """True when no cell is empty."""
        return self._empty == 0

    def put(self, place: Place, item: str | None) -> None:
        """Puts an item into a slot, in place of what was there.

        Args:
            place: The slot.
            item: Id of one of its candidates; None empties the slot.
        """
        old, items = place.item, self._items
        gone = None if old is None else items[old]
        come = None if item is None else items[item]
        for total in self._tallies:
            total.swap(gone, come, place.slot.row)
        if old is not None:
            self._rule_breakers -= not place.accepts(old)
            self._empty += 1
        if item is not None:
            self._rule_breakers += not place.accepts(item)
            self._empty -= 1
        place.item = self._grid[place.slot.row][place.slot.col] = item

    def slots_hold(self) -> bool:
        """Tells whether every item in a slot meets the rules of that slot."""
        return self._rule_breakers == 0

    def globals_hold(self) -> bool:
        """Tells whether the grid, full or not, meets the global rules (see :mod:`agenthard.ace.rules`)."""
        full = self._empty == 0
        return all(total.holds(full) for total in self._tallies)

    def solved(self) -> bool:
        """Tells whether the grid is a solution: full, and meeting every rule there is."""
        return self.full and self.slots_hold() and self.globals_hold()
