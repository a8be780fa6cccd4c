"""Probes of every attribute and text field alone: its ends, its middle, its rare and its common values."""

from collections.abc import Iterator

import numpy as np

from audit.probes.columns import Floats, count_equal
from audit.probes.probe import Probe, ends
from audit.probes.table import Table


def attribute_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of one column at a time."""
    for column in table.columns:
        family = "text" if column.source == "text" else "attributes"
        if column.numeric:
            yield from ends(table, column.name, family, column.name, column.values)
        if column.numeric and column.source == "text":
            continue
        here = count_equal(table.choice, column.values)
        everywhere = np.where(np.isnan(column.values), np.nan, column.common)
        for place, counts in (("the choice", here), ("the task", everywhere)):
            id = f"{column.name}:{{}} in {place.removeprefix('the ')}"
            yield Probe(id.format("rarest"), family, f"has the rarest {column.name} of {place}", -counts)
            yield Probe(id.format("commonest"), family, f"has the commonest {column.name} of {place}", counts)


def summary_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes that sum one trait up over all attributes."""
    numbers = [column for column in table.columns if column.numeric and column.source == "attribute"]
    plain = [column for column in table.columns if column.source == "attribute"]
    if numbers:
        ranks = [table.ranks(column.values) for column in numbers]
        rank = _mean(ranks)
        yield from ends(table, "mean rank", "attributes", "mean rank of its numbers", rank)
        edge = _mean([np.where(np.isnan(r), np.nan, (r == 0) | (r == 1)) for r in ranks])
        trait = "share of numbers that are the lowest or highest"
        yield from ends(table, "extremes", "attributes", trait, edge, middle=False)
        roundness = _mean([_trailing_zeros(column.values) for column in numbers])
        yield from ends(table, "round", "attributes", "mean number of trailing zeros", roundness, middle=False)
    if plain:
        shared = _mean([count_equal(table.choice, column.values) - 1 for column in plain])
        trait = "number of values shared with other candidates"
        yield from ends(table, "shared", "attributes", trait, shared, middle=False)
        frequency = _mean([np.where(np.isnan(c.values), np.nan, c.common) for c in plain])
        trait = "mean frequency of its values in the task"
        yield from ends(table, "frequency", "attributes", trait, frequency, middle=False)


def _mean(parts: list[Floats]) -> Floats:
    """Mean over the known parts, rounded so that equal means are equal."""
    known = sum(~np.isnan(part) for part in parts)
    total = sum(np.nan_to_num(part) for part in parts)
    return np.divide(total, known, out=np.full(len(parts[0]), np.nan), where=np.asarray(known) > 0).round(9)


def _trailing_zeros(values: Floats) -> Floats:
    zeros = sum(((values % 10**power == 0) & (values != 0)).astype(float) for power in (1, 2, 3))
    return np.where(np.isnan(values), np.nan, zeros)
