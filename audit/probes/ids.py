"""Probes of the ids: their alphabet, numbers, digits and gaps."""

from collections.abc import Callable, Iterator

import numpy as np

from agenthard.audit.probes.columns import Floats, first_number
from agenthard.audit.probes.probe import Probe, ends
from agenthard.audit.probes.table import Table

_IDS = "ids"


def id_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of the candidates' ids."""
    ranks = {id: float(rank) for rank, id in enumerate(sorted(set(table.ids)))}
    yield from _ends(table, "id by the alphabet", _each(table, ranks.__getitem__), middle=True)
    yield from _ends(table, "length of id", _each(table, len))
    number = _each(table, first_number)
    if np.isnan(number).all():
        return
    yield from _ends(table, "number in its id", number, middle=True)
    yield from _ends(table, "parity of the number in its id", number % 2)
    yield from _ends(table, "last digit of the id", number % 10)
    yield from _ends(table, "digit sum of the id", _each(table, _digit_sum))
    yield from _ends(table, "number of zeros in its id", _each(table, lambda id: id.count("0")))
    pool, shown = _gaps(table, number)
    yield from _ends(table, "distance of its id's number to the next id of the task", pool)
    yield from _ends(table, "distance of its id's number to the next id of a shown item", shown)


def _ends(table: Table, number: str, values: Floats, *, middle: bool = False) -> Iterator[Probe]:
    return ends(table, number, _IDS, _IDS, number, values, middle=middle)


def _each(table: Table, function: Callable[[str], float]) -> Floats:
    known = {id: float(function(id)) for id in set(table.ids)}
    return np.array([known[id] for id in table.ids])


def _digit_sum(id: str) -> float:
    return float(sum(int(letter) for letter in id if letter.isdecimal()))


def _gaps(table: Table, number: Floats) -> tuple[Floats, Floats]:
    """Distance of each id's number to the nearest other of its scene, and to the nearest of a shown item."""
    shown_number = np.array([first_number(id) for id in table.shown_ids])
    to_pool, to_shown = np.full(len(table), np.nan), np.full(len(table), np.nan)
    for scene in range(len(table.scenes)):
        rows = np.flatnonzero(table.scene == scene)
        given = shown_number[table.shown_scene == scene]
        given = np.sort(given[~np.isnan(given)])
        pool = np.unique(np.concatenate([number[rows], given]))
        pool = pool[~np.isnan(pool)]
        to_pool[rows] = _distance(number[rows], pool, own=True)
        to_shown[rows] = _distance(number[rows], given, own=False)
    return to_pool, to_shown


def _distance(values: Floats, points: Floats, *, own: bool) -> Floats:
    """Distance of each value to the nearest point; ``own`` leaves the value itself out."""
    if len(points) <= own:
        return np.full(len(values), np.nan)
    right = np.searchsorted(points, values, side="right" if own else "left")
    left = (np.searchsorted(points, values, side="left") if own else right) - 1
    above = np.where(right < len(points), points[np.minimum(right, len(points) - 1)] - values, np.inf)
    below = np.where(left >= 0, values - points[np.maximum(left, 0)], np.inf)
    nearest = np.minimum(above, below)
    return np.where(np.isnan(values), np.nan, nearest)
