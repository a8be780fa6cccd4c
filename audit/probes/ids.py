"""Probes of the ids: their alphabet, numbers, digits and gaps."""

from collections.abc import Iterator

import numpy as np

from audit.probes.columns import Floats, first_number
from audit.probes.probe import Probe, ends
from audit.probes.table import Table

_IDS = "ids"


def id_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of the candidates' ids."""
    ranks = {id: float(rank) for rank, id in enumerate(sorted(set(table.ids)))}
    yield from ends(table, "id alphabet", _IDS, _IDS, "id by the alphabet", _each(table, ranks.__getitem__))
    yield from ends(table, "id length", _IDS, _IDS, "length of id", _each(table, len), middle=False)
    number = _each(table, first_number)
    if np.isnan(number).all():
        return
    yield from ends(table, "id number", _IDS, _IDS, "number in its id", number)
    yield Probe("id even", _IDS, _IDS, "has an even number in its id", np.where(np.isnan(number), np.nan, number % 2 == 0))
    yield from ends(table, "id last digit", _IDS, _IDS, "last digit of the id", number % 10, middle=False)
    yield from ends(table, "id digit sum", _IDS, _IDS, "digit sum of the id", _each(table, _digit_sum), middle=False)
    yield from ends(table, "id zeros", _IDS, _IDS, "number of zeros in its id", _each(table, _zeros), middle=False)
    pool, shown = _gaps(table, number)
    yield from ends(table, "id gap", _IDS, _IDS, "distance of its id's number to the next id of the task", pool, middle=False)
    if not np.isnan(shown).all():
        trait = "distance of its id's number to the next id of a shown item"
        yield from ends(table, "id gap to shown", _IDS, _IDS, trait, shown, middle=False)


def _each(table: Table, function: object) -> Floats:
    known = {id: float(function(id)) for id in set(table.ids)}  # type: ignore[operator]
    return np.array([known[id] for id in table.ids])


def _digit_sum(id: str) -> float:
    return float(sum(int(letter) for letter in id if letter.isdecimal()))


def _zeros(id: str) -> float:
    return float(id.count("0"))


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
