"""Probes of what only made-up candidates do: leave the usual ranges, contradict themselves, sit on a limit."""

from collections.abc import Iterator

import numpy as np

from agenthard.audit.probes.columns import Column
from agenthard.audit.probes.probe import Probe, ends
from agenthard.audit.probes.table import Bools, Table

_SUPPORT = 3
"""A word has to be seen so often before what goes with it counts as known."""
_STRICTNESS = 0.95
"""Share of items that have to agree before one word is taken to decide another."""


def range_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of the ranges and values that the shown items have, here and over all tasks of the kind."""
    if not len(table.shown_ids):
        return
    numbers = [column for column in table.columns if column.numeric and column.source == "attribute"]
    words = [column for column in table.columns if not column.numeric]
    for id, says, outside in (
        ("range:here", "keeps to the range of the shown items of its task in every number", _outside_here),
        ("range:kind", "keeps to the range of the shown items of all tasks in every number", _outside_kind),
    ):
        strange = [(column.name, outside(table, column)) for column in numbers]
        yield _rarely(id, "range", says, strange)
    strange = [(column.name, ~np.isnan(column.values) & ~np.isin(column.values, column.shown)) for column in words]
    yield _rarely("range:words", "range", "has only words that some shown item has too", strange)


def consistency_probes(table: Table) -> Iterator[Probe]:
    """Yield the probe of words that decide one another, such as the words of a name and a category.

    Which words go together is learned from the shown items, or from all candidates where none are shown.
    """
    words = [column for column in table.columns if not column.numeric]
    strange = [
        (f"{effect.name} against {cause.name}", _contradicts(cause, effect))
        for effect in words
        for cause in words
        if cause is not effect and effect.source == "attribute"
    ]
    if strange:
        says = "has no word that contradicts another (as learned from the shown items)"
        yield _rarely("consistency", "consistency", says, strange)


def limit_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of the distance to the limits of the stated rules."""
    if np.isnan(table.margin).all():
        return
    exact = np.where(np.isnan(table.margin), np.nan, table.margin == 0)
    yield Probe("limit:exact", "limits", "limits", "lies exactly on a limit of its rules", exact)
    number = "distance to the nearest limit of its rules"
    yield from ends(table, "limit distance", "limits", "limits", number, table.margin, middle=False)


def _rarely(id: str, family: str, says: str, strange: list[tuple[str, Bools]]) -> Probe:
    """Pick the candidates with the fewest strange traits, and tell which traits occur how often."""
    counts = sorted(((int(flags.sum()), name) for name, flags in strange if flags.any()), key=lambda c: (-c[0], c[1]))
    detail = ", ".join(f"{name} {count}×" for count, name in counts[:6])
    score = -sum(flags.astype(float) for _, flags in strange) if strange else np.full(0, np.nan)
    return Probe(id, family, family, says, np.asarray(score), f"candidates that do not: {detail}" if detail else "")


def _outside_here(table: Table, column: Column) -> Bools:
    low = np.full(len(table.scenes), np.inf)
    high = np.full(len(table.scenes), -np.inf)
    known = ~np.isnan(column.shown)
    np.minimum.at(low, table.shown_scene[known], column.shown[known])
    np.maximum.at(high, table.shown_scene[known], column.shown[known])
    outside: Bools = (column.values < low[table.scene]) | (column.values > high[table.scene])
    outside &= np.isfinite(low)[table.scene]
    return outside


def _outside_kind(table: Table, column: Column) -> Bools:
    if np.isnan(column.shown).all():
        return np.zeros(len(table), dtype=bool)
    outside: Bools = (column.values < np.nanmin(column.shown)) | (column.values > np.nanmax(column.shown))
    return outside


def _contradicts(cause: Column, effect: Column) -> Bools:
    """Flag candidates whose ``effect`` never occurs with their ``cause``, where the cause determines the effect."""
    both = ~np.isnan(cause.shown) & ~np.isnan(effect.shown)
    known_cause, known_effect = cause.shown[both], effect.shown[both]
    candidates = ~np.isnan(cause.values) & ~np.isnan(effect.values)
    if not both.any():
        known_cause, known_effect = cause.values[candidates], effect.values[candidates]
    flags = np.zeros(len(cause.values), dtype=bool)
    if not len(known_cause) or not candidates.any() or len(np.unique(known_effect)) < 2:
        return flags
    seen = np.zeros((len(cause.labels), len(effect.labels)))
    np.add.at(seen, (known_cause.astype(int), known_effect.astype(int)), 1)
    support = seen.sum(axis=1)
    judged = support >= _SUPPORT
    if not judged.any() or seen[judged].max(axis=1).sum() < _STRICTNESS * support[judged].sum():
        return flags
    row, col = cause.values[candidates].astype(int), effect.values[candidates].astype(int)
    flags[candidates] = judged[row] & (seen[row, col] <= (1 - _STRICTNESS) * support[row])
    return flags
