"""Probes of every attribute and text field alone: its ends, its middle, its rare and its common values."""

from collections.abc import Iterator

import numpy as np

from agenthard.audit.probes.columns import Column, Floats, count_equal
from agenthard.audit.probes.probe import Probe, ends
from agenthard.audit.probes.table import Table


def attribute_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of one column at a time."""
    for column in table.columns:
        family, trait = ("text", column.key) if column.source == "text" else ("attributes", column.name)
        if column.numeric:
            yield from ends(table, column.name, family, trait, column.name, column.values)
        if not np.isnan(column.shown).all():
            yield _typical(table, column, family, trait)
        if column.numeric and column.source == "text":
            continue
        here = count_equal(table.choice, column.values)
        everywhere = np.where(np.isnan(column.values), np.nan, column.common)
        for place, counts in (("choice", here), ("task", everywhere)):
            for end, score in (("rarest", -counts), ("commonest", counts)):
                says = f"has the {end} {column.name} of the {place}"
                yield Probe(f"{column.name}:{end} in {place}", family, trait, says, score)


def summary_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes that sum one trait up over all attributes."""
    numbers = [column for column in table.columns if column.numeric and column.source == "attribute"]
    plain = [column for column in table.columns if column.source == "attribute"]
    if numbers:
        ranks = [table.ranks(column.values) for column in numbers]
        rank = _mean(ranks)
        yield from _summary(table, "mean rank", "mean rank of its numbers", rank)
        edge = _mean([np.where(np.isnan(r), np.nan, (r == 0) | (r == 1)) for r in ranks])
        yield from _summary(table, "extremes", "share of numbers that are the lowest or highest", edge)
        roundness = _mean([_trailing_zeros(column.values) for column in numbers])
        yield from _summary(table, "round numbers", "mean number of trailing zeros", roundness)
    if plain:
        shared = _mean([count_equal(table.choice, column.values) - 1 for column in plain])
        yield from _summary(table, "shared values", "number of values shared with other candidates", shared)
        frequency = _mean([np.where(np.isnan(c.values), np.nan, c.common) for c in plain])
        yield from _summary(table, "frequency", "mean frequency of its values in the task", frequency)


def shown_mean(table: Table, column: Column) -> Floats:
    """Return, per candidate, the mean number of its task's shown items; NaN where there is none."""
    known = ~np.isnan(column.shown)
    total = np.bincount(table.shown_scene[known], weights=column.shown[known], minlength=len(table.scenes))
    number = np.bincount(table.shown_scene[known], minlength=len(table.scenes))
    mean: Floats = np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)
    return mean[table.scene]


def _typical(table: Table, column: Column, family: str, trait: str) -> Probe:
    if column.numeric:
        distance = abs(column.values - shown_mean(table, column)).round(9)
        says = f"has the {column.name} nearest to the mean of the shown items"
        return Probe(f"{column.name}:typical", family, trait, says, -distance)
    width = len(column.labels) + 1
    shown = np.bincount(
        table.shown_scene * width + np.nan_to_num(column.shown, nan=width - 1).astype(np.int64),
        minlength=len(table.scenes) * width,
    )
    known = ~np.isnan(column.values)
    codes = np.nan_to_num(column.values).astype(np.int64)
    score = np.where(known, shown[table.scene * width + codes], np.nan)
    says = f"has the {column.name} that is commonest among the shown items"
    return Probe(f"{column.name}:typical", family, trait, says, score)


def _summary(table: Table, trait: str, number: str, values: Floats) -> Iterator[Probe]:
    return ends(table, trait, "attributes", trait, number, values, middle=False)


def _mean(parts: list[Floats]) -> Floats:
    """Mean over the known parts, rounded so that equal means are equal."""
    known = np.sum([~np.isnan(part) for part in parts], axis=0)
    total = np.sum([np.nan_to_num(part) for part in parts], axis=0)
    mean: Floats = np.divide(total, known, out=np.full(len(total), np.nan), where=known > 0)
    return mean.round(9)


def _trailing_zeros(values: Floats) -> Floats:
    zeros = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    numbers = values[known]  # remainders of NaN take long
    zeros[known] = np.sum([(numbers % 10**power == 0) & (numbers != 0) for power in (1, 2, 3)], axis=0)
    return zeros
