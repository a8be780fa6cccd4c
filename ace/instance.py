"""One ACE-Bench instance: the puzzle an agent sees, the answer it must not see, and how both came to be.

A puzzle is a grid of items in which some cells (*slots*) are empty. Each slot offers candidates; exactly one choice
per slot meets the rules of every slot and of the whole grid. Among the candidates of a slot one is the *truth*, the
*filters* break the slot's own rules, and the *decoys* meet them but break the whole.

These records are plain slotted dataclasses, because files hold hundreds of items per instance. Nothing may write to
them after they are made, the dictionaries inside them included.
"""

from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = int | str
"""A value of an item's attribute."""
Item: TypeAlias = dict[str, Value]
"""An item as files show it: its id under the domain's id key first, then ``name``, then the domain's attributes."""
Cell: TypeAlias = tuple[int, int]
"""Row and column of a cell, both from 0."""
Grid: TypeAlias = tuple[tuple[str | None, ...], ...]
"""Item ids by row and column; None where the cell is empty."""


@dataclass(frozen=True, slots=True)
class Slot:
    """An empty cell, as the agent sees it."""

    row: int
    """Row, from 0."""
    col: int
    """Column, from 0."""
    limits: dict[str, int]
    """Threshold by name of slot rule, for the rules this slot carries (agenthard.ace.domain says what a rule means)."""
    candidates: tuple[str, ...]
    """Ids of the items it may take, in an order that means nothing."""

    @property
    def cell(self) -> Cell:
        """Row and column."""
        return self.row, self.col


@dataclass(frozen=True, slots=True)
class Puzzle:
    """The public part of an instance."""

    id: str
    """Id of the instance, unique within its file."""
    domain: str
    """Name of its domain."""
    rows: int
    """Rows of the grid."""
    cols: int
    """Columns of the grid."""
    candidates_per_slot: int
    """Candidates in every slot: the paper's K."""
    limits: dict[str, int]
    """Threshold by name of global rule, in the domain's order; all rules of the domain are there."""
    items: dict[str, Item]
    """Every item by id: those in the grid and the candidates of every slot."""
    grid: Grid
    """The grid to begin with: fixed items, and None at the slots."""
    slots: tuple[Slot, ...]
    """The slots, row by row."""
    instruction: str
    """The task as text; it follows from the rest (agenthard.ace.wording)."""

    def slot(self, row: int, col: int) -> Slot | None:
        """Returns the slot at a cell.

        Args:
            row: Row, from 0.
            col: Column, from 0.

        Returns:
            The slot, or None where the cell is fixed or outside the grid.
        """
        return next((slot for slot in self.slots if slot.row == row and slot.col == col), None)

    def filled(self, choice: dict[Cell, str]) -> Grid:
        """Returns the grid with items put into slots.

        Args:
            choice: Item id by cell; other cells stay as they are.

        Returns:
            The grid.
        """
        return tuple(
            tuple(choice.get((row, col), item) for col, item in enumerate(line)) for row, line in enumerate(self.grid)
        )


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """What the generator knows about a slot and the agent must not."""

    truth: str
    """Id of the item that belongs there."""
    decoys: tuple[str, ...]
    """Ids of its decoys, in the order they were made; empty for a slot without decoys."""
    filters: tuple[str, ...]
    """Ids of the candidates that break the slot's own rules, in the order they were made."""
    stage: int | None
    """How well its decoys hide before the grid is full: 1 to 3 are the paper's preference levels (ace.proof.stages),
    4 promises nothing (always so for the last decoy slot); None for a slot without decoys."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The private part of an instance."""

    solution: Grid
    """The full grid of the truth."""
    slots: tuple[SlotAnswer, ...]
    """What is known about each slot, in the order of ``Puzzle.slots``."""

    @property
    def decoy_slots(self) -> tuple[int, ...]:
        """Indices of the slots that have decoys."""
        return tuple(index for index, slot in enumerate(self.slots) if slot.decoys)

    @property
    def decoy_budget(self) -> int:
        """Number of decoys in the whole instance: the paper's B."""
        return sum(len(slot.decoys) for slot in self.slots)


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One query of a plan: which candidates of a slot meet a condition."""

    slot: int
    """Index of the slot."""
    field: str
    """The attribute."""
    operator: str
    """``>=``, ``<=`` or ``=`` for a number, ``in`` for words."""
    number: int = 0
    """What a number is compared with."""
    words: tuple[str, ...] = ()
    """What words are looked for among."""

    @property
    def value(self) -> int | list[str]:
        """The condition's value as the tool takes it."""
        return list(self.words) if self.operator == "in" else self.number


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Queries whose answers, ids only, leave no more fillings possible than global checks can tell apart.

    It is chosen with the values in sight, so it proves that the queries are enough, not that they are easy to choose.
    """

    steps: tuple[QueryStep, ...]
    """The queries."""
    checks: int
    """Global checks that are needed after them: fillings still possible, less one."""
    extra_queries: int
    """Queries that it needs of a slot beyond one per rule of the slot and one per slot of the instance, at least the
    paper's 2: with more than 2 the instance is not proved solvable within the paper's budget."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of an exact search for solutions, bound to the instance it is about."""

    digest: str
    """SHA-256 of the instance's puzzle and answer, in hexadecimal (agenthard.ace.proof.certificate)."""
    solutions: int
    """Number of solutions found; the search stops at the second."""
    nodes: int
    """Partial grids the search looked at."""
    method: str
    """Name of the search."""
    version: int
    """Version of the search; another version may count its nodes otherwise."""
    plan: QueryPlan | None = None
    """Queries that suffice to find the solution (agenthard.ace.proof.plan); None where no plan was asked for."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How an instance was made: with these parameters the generator makes it again, byte for byte."""

    generator: str
    """Name and version of the generator."""
    seed: int
    """Seed of the whole suite."""
    index: int
    """Number of the instance within its (domain, hidden slots, decoy budget) cell, from 0."""
    candidates: int
    """Candidates per slot as asked for; the instance may have a few more (agenthard.ace.generator.parameters)."""
    coupling: bool
    """True when decoys were chosen so that looking at one slot at a time does not exclude them."""
    preference_attempts: tuple[int, int, int]
    """After how many proposals for a decoy the demand on its preference level fell."""
    attempts: int
    """How many times it was drawn until it met every condition."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A puzzle with its answer, and where they are known its certificate and its provenance."""

    puzzle: Puzzle
    """What an agent may see."""
    answer: Answer
    """What it may not."""
    certificate: Certificate | None = None
    """Proof that the answer is the only one; None in files that carry none, such as the reference's."""
    provenance: Provenance | None = None
    """How it was generated; None where it is not known."""

    @property
    def id(self) -> str:
        """Id of the instance."""
        return self.puzzle.id

    @property
    def hidden_slots(self) -> int:
        """Number of slots: the paper's H."""
        return len(self.puzzle.slots)
