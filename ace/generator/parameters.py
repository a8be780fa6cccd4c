"""What a suite of instances is asked to be, and whether that is possible."""

from collections.abc import Iterator
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agenthard.ace import domains
from agenthard.ace.errors import ImpossibleParametersError
from agenthard.ace.generator.shares import decoy_slot_count, largest_share
from agenthard.ace.reference_format import Header

PAPER_HIDDEN_SLOTS = (1, 5, 7, 11, 15, 21)
PAPER_DECOY_BUDGETS = (0, 2, 4, 8, 10, 15, 19, 21, 25)
PAPER_DOMAINS = ("course", "shopping", "travel", "workforce", "meal", "pc_build")


class Cell(NamedTuple):
    """One instance to make: with the suite's parameters this decides it completely."""

    domain: str
    """Name of the domain."""
    hidden_slots: int
    """Number of slots: the paper's H."""
    decoy_budget: int
    """Decoys in the whole instance: the paper's B."""
    number: int
    """Number of the instance among those of the same domain, H and B, from 0."""


class Parameters(BaseModel):
    """A suite: instances for every domain, number of hidden slots and decoy budget. The default is the paper's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(default=5, ge=1)
    """Rows of the grid."""
    cols: int = Field(default=7, ge=1)
    """Columns of the grid."""
    hidden_slots: tuple[int, ...] = Field(default=PAPER_HIDDEN_SLOTS, min_length=1)
    """Numbers of slots: the paper's H."""
    decoy_budgets: tuple[int, ...] = Field(default=PAPER_DECOY_BUDGETS, min_length=1)
    """Numbers of decoys in a whole instance: the paper's B."""
    candidates: int = Field(default=25, ge=1)
    """Candidates per slot: the paper's K. A single slot that takes the whole budget gets up to two more, as in the
    paper's own suite, where K = 25 and B = 25; a budget that needs still more is refused."""
    per_cell: int = Field(default=1, ge=1)
    """Instances for each domain, number of slots and budget."""
    domains: tuple[str, ...] = Field(default=PAPER_DOMAINS, min_length=1)
    """Names of the domains."""
    seed: int = 0
    """Seed of the suite; each instance has a generator of its own, derived from it and from the instance's cell."""
    coupling: bool = False
    """Choose decoys so that looking at one slot, with the others at their mean, does not find the truth."""
    query_plans: bool = False
    """Add to each certificate a plan of queries that suffice to find the solution, where one is found."""
    preference_attempts: tuple[int, int, int] = (30, 50, 70)
    """After how many proposals for a decoy the demand on how well it hides falls from level 1 to 2, to 3, to none."""
    attempts: int = Field(default=100, ge=1)
    """How often an instance may be drawn until it meets every condition."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        known = domains.names()
        unknown = [name for name in self.domains if name not in known]
        if unknown:
            raise ImpossibleParametersError(f"unknown domain {', '.join(unknown)}; there are: {', '.join(known)}")
        for name, values in (("domain", self.domains), ("H", self.hidden_slots), ("B", self.decoy_budgets)):
            if len(set(values)) < len(values):
                raise ImpossibleParametersError(f"{name} is listed twice: {', '.join(map(str, values))}")
        if sorted(self.preference_attempts) != list(self.preference_attempts) or self.preference_attempts[0] < 1:
            raise ImpossibleParametersError(
                f"preference attempts must be positive and ascending: {self.preference_attempts}"
            )
        for hidden in self.hidden_slots:
            for budget in self.decoy_budgets:
                self.candidates_for(hidden, budget)
        return self

    def candidates_for(self, hidden_slots: int, budget: int) -> int:
        """Returns how many candidates each slot of an instance has.

        Args:
            hidden_slots: Number of slots.
            budget: Decoys in the whole instance.

        Returns:
            ``candidates``, or up to two more where one slot holds the whole budget.

        Raises:
            ImpossibleParametersError: Such an instance cannot exist; the message says why.
        """
        cells = self.rows * self.cols
        if hidden_slots < 0 or budget < 0:
            raise ImpossibleParametersError(f"H = {hidden_slots}, B = {budget}: neither can be negative")
        if hidden_slots > cells:
            raise ImpossibleParametersError(
                f"H = {hidden_slots}: a {self.rows}x{self.cols} grid has only {cells} cells"
            )
        if budget and not hidden_slots:
            raise ImpossibleParametersError(f"B = {budget} with H = 0: without a hidden slot no decoy has a place")
        most = largest_share(hidden_slots, budget)
        if most < self.candidates:
            return self.candidates
        if decoy_slot_count(hidden_slots, budget) == 1 and budget <= self.candidates:
            return budget + 2
        raise ImpossibleParametersError(
            f"K = {self.candidates} is too small for H = {hidden_slots}, B = {budget}: "
            f"one slot may have {most} decoys, so with the truth it needs at least {most + 1} candidates"
        )

    @property
    def count(self) -> int:
        """Number of instances in the suite."""
        return len(self.domains) * len(self.hidden_slots) * len(self.decoy_budgets) * self.per_cell

    def cells(self) -> Iterator[Cell]:
        """Yields every instance to make: domains, then hidden slots, then budgets, then numbers.

        Yields:
            One cell per instance, ``count`` in all.
        """
        for domain in self.domains:
            for hidden in self.hidden_slots:
                for budget in self.decoy_budgets:
                    for number in range(self.per_cell):
                        yield Cell(domain, hidden, budget, number)

    def header(self, domain: str) -> Header:
        """Returns what a file in the layout of the paper says about the suite's instances of one domain.

        Args:
            domain: Name of the domain.

        Returns:
            The header.
        """
        return Header(domain, self.rows, self.cols, self.hidden_slots, self.decoy_budgets, self.candidates)
