"""Models of published results: what others measured, on other instances and under other conditions."""

from agenthard.taxonomy.record import Record


class DomainCount(Record):
    """A published model in one domain."""

    domain: str
    """Domain."""
    passed: int
    """Instances solved; from a mean, the whole number it stands for."""
    n: int
    """Instances."""


class CellCount(Record):
    """A published model in one cell."""

    hidden_slots: int
    """H."""
    decoy_budget: int
    """B, which the paper's files call the branch budget."""
    passed: int
    """Instances solved."""
    n: int
    """Instances."""


class PublishedModel(Record):
    """One model of a published result. It was measured by others, on other instances and under other conditions."""

    model: str
    """Model."""
    sources: tuple[str, ...]
    """Names of the files that say so."""
    passed: int
    """Instances solved."""
    n: int
    """Instances."""
    domains: tuple[DomainCount, ...] = ()
    """Per domain, where the file says it."""
    cells: tuple[CellCount, ...] = ()
    """Per cell, where the file says it."""
