"""Probes of how alike candidates are: the odd one out, the one like all others, duplicates, what the text mentions."""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from agenthard.audit.probes.columns import Column, Floats
from agenthard.audit.probes.probe import Probe, ends
from agenthard.audit.probes.table import Table

_LIKE = "likeness"
_TWICE = "duplicates"
_TOKEN = re.compile(r"\w+")


def likeness_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of the distance to the other candidates and to the shown items.

    Distance is Euclidean over the numbers, each divided by its standard deviation over the kind, and the words, which
    add 1 where they differ.
    """
    plain = [column for column in table.columns if column.source == "attribute"]
    if not plain:
        return
    mean, nearest = _between(table, plain)
    yield from ends(table, "likeness:others", _LIKE, _LIKE, "mean distance to the other candidates", mean, middle=False)
    number = "distance to the most similar other candidate"
    yield from ends(table, "likeness:twin", _LIKE, _LIKE, number, nearest, middle=False)
    if len(table.shown_ids):
        mean, nearest = _to_shown(table, plain)
        yield from ends(table, "likeness:shown", _LIKE, _LIKE, "mean distance to the shown items", mean, middle=False)
        number = "distance to the most similar shown item"
        yield from ends(table, "likeness:shown twin", _LIKE, _LIKE, number, nearest, middle=False)


def duplicate_probes(table: Table, whole: Table) -> Iterator[Probe]:
    """Yield the probes of repetition.

    Args:
        table: the candidates.
        whole: the table before any candidate was left out, in which repetitions are counted.
    """
    codes = _contents(whole)
    in_scene = Counter(zip(whole.scene.tolist(), codes, strict=True))
    pairs = zip(table.scene.tolist(), [codes[row] for row in table.origin], strict=True)
    copies = np.array([in_scene[pair] for pair in pairs], dtype=float)
    yield Probe("duplicate:content", _TWICE, _TWICE, "shares its content with the fewest other candidates", -copies)
    offers = Counter(zip(whole.scene.tolist(), whole.ids, strict=True))
    times = np.array([offers[pair] for pair in zip(table.scene.tolist(), table.ids, strict=True)], dtype=float)
    yield Probe("duplicate:offered", _TWICE, _TWICE, "is offered in the fewest choices of its task", -times)
    shown = set(zip(table.shown_scene.tolist(), table.shown_ids, strict=True))
    given = np.array([pair in shown for pair in zip(table.scene.tolist(), table.ids, strict=True)], dtype=float)
    yield Probe("duplicate:shown", _TWICE, _TWICE, "is not one of the shown items", -given)


def mention_probes(table: Table) -> Iterator[Probe]:
    """Yield the probe of ids that the task's own text mentions."""
    words = [Counter(_TOKEN.findall(scene.text)) for scene in table.scenes]
    if not any(words):
        return
    named = [
        float(words[s][id] if _TOKEN.fullmatch(id) else table.scenes[s].text.count(id) if id else 0)
        for s, id in zip(table.scene.tolist(), table.ids, strict=True)
    ]
    yield Probe("mention", "text", "mention", "is named most often in the task's text", np.array(named))


def _contents(table: Table) -> list[bytes] | range:
    """All attributes of each candidate as one value; the row number where there are none."""
    columns = [column.values for column in table.columns if column.source == "attribute"]
    if not columns:
        return range(len(table))
    rows = np.nan_to_num(np.stack(columns, axis=1), nan=-1.5e300) + 0.0  # turns -0 into 0
    return [row.tobytes() for row in rows]


def _standard(column: Column) -> tuple[Floats, Floats]:
    """Numbers in standard deviations, unknown ones at 0 (the mean)."""
    everything = np.concatenate([column.values, column.shown])
    if np.isnan(everything).all():
        return np.zeros(len(column.values)), np.zeros(len(column.shown))
    mean, spread = float(np.nanmean(everything)), float(np.nanstd(everything)) or 1.0
    return np.nan_to_num((column.values - mean) / spread), np.nan_to_num((column.shown - mean) / spread)


def _squares(parts: list[tuple[bool, Floats, Floats]]) -> Floats:
    """Sum over columns of the squared differences between two broadcast arrays; NaN words are equal to one another."""
    total: Floats = np.zeros(1)
    for numeric, left, right in parts:
        total = total + ((left - right) ** 2 if numeric else left != right)
    return np.sqrt(total).round(9)


def _arrays(columns: list[Column]) -> list[tuple[bool, Floats, Floats]]:
    return [
        (True, *_standard(c)) if c.numeric else (False, np.nan_to_num(c.values, nan=-1), np.nan_to_num(c.shown, nan=-1))
        for c in columns
    ]


def _between(table: Table, columns: list[Column]) -> tuple[Floats, Floats]:
    mean, nearest = np.full(len(table), np.nan), np.full(len(table), np.nan)
    arrays = _arrays(columns)
    for size in np.unique(table.sizes):
        rows = table.starts[table.sizes == size][:, None] + np.arange(size)
        distance = _squares([(n, own[rows][:, :, None], own[rows][:, None, :]) for n, own, _ in arrays])
        mean[rows] = (distance.sum(axis=2) / max(size - 1, 1)).round(9)
        distance[:, np.arange(size), np.arange(size)] = np.inf
        nearest[rows] = distance.min(axis=2)
    return mean, nearest


def _to_shown(table: Table, columns: list[Column]) -> tuple[Floats, Floats]:
    mean, nearest = np.full(len(table), np.nan), np.full(len(table), np.nan)
    arrays = _arrays(columns)
    for scene in range(len(table.scenes)):
        rows, shown = np.flatnonzero(table.scene == scene), np.flatnonzero(table.shown_scene == scene)
        if len(rows) and len(shown):
            distance = _squares([(n, own[rows][:, None], given[shown][None, :]) for n, own, given in arrays])
            mean[rows], nearest[rows] = distance.mean(axis=1).round(9), distance.min(axis=1)
    return mean, nearest
