"""Probes of the order and of the ids of candidates."""

from collections.abc import Callable, Iterator

import numpy as np

from agenthard.audit.probes.columns import Floats, Ints, first_number
from agenthard.audit.probes.probe import Probe, ends
from agenthard.audit.probes.table import Table

_ORDER = "order"
_POOL = "pool order"


def order_probes(table: Table, settled: Floats) -> Iterator[Probe]:
    """Yield the probes of the place in the offered list.

    Args:
        table: the candidates.
        settled: per row, how many choices of the scene that their rules settle have their answer at this place.
    """
    yield Probe("order:first", _ORDER, _ORDER, "is listed first", -table.position)
    yield Probe("order:last", _ORDER, _ORDER, "is listed last", table.position)
    yield Probe("order:middle", _ORDER, _ORDER, "is listed in the middle", -abs(2 * table.position - table.offered + 1))
    says = "is at the position of the answers of the same task that the rules settle"
    yield Probe("order:settled", _ORDER, _ORDER, says, settled)
    yield Probe("order:unsorted", _ORDER, _ORDER, "is the one that breaks the order of the ids", _breaks(table))


def settled_places(table: Table) -> Floats:
    """Count, per row, the choices of the scene that have one candidate left by their rules, and it at this place.

    A shuffle that repeats itself puts the answer at the same place everywhere; then one settled choice tells all.
    A settled choice is only told of those before it: were all told of all, agreement of two would count twice.
    """
    sole = np.flatnonzero(table.allowed & table.ruled & (table.total(table.allowed) == 1))
    settled = np.zeros(len(table.sizes), dtype=bool)
    settled[table.choice[sole]] = True
    n = len(table) + 1
    until = np.where(settled, table.starts, n - 1)[table.choice]

    def before(keys: Ints) -> Ints:
        marks = np.sort(keys[sole] * n + sole)
        return np.searchsorted(marks, keys * n + until) - np.searchsorted(marks, keys * n)

    width = int(table.position.max(initial=0)) + 1
    count = before(table.scene * width + table.position.astype(np.int64))
    return np.where(before(table.scene) > 0, count.astype(float), np.nan)


def pool_probes(table: Table) -> Iterator[Probe]:
    """Yield the probes of the place in the public list of all items."""
    if np.isnan(table.pool).all():
        return
    place = "place in the file's list of all items"
    yield from ends(table, "pool", _POOL, _POOL, place, table.pool)
    near = _nearest_shown(table)
    yield Probe("pool:near", _POOL, _POOL, "is nearest to a shown item in the file's list of all items", -near)
    yield Probe("pool:far", _POOL, _POOL, "is farthest from any shown item in the file's list of all items", near)


def _breaks(table: Table) -> Floats:
    """How many steps against the prevailing order of the ids vanish when the candidate is taken out."""
    place = {id: rank for rank, id in enumerate(sorted(set(table.ids)))}
    rank = np.array([place[id] for id in table.ids])
    last = np.zeros(len(table), dtype=bool)
    last[table.starts + table.sizes - 1] = True
    first = np.zeros(len(table), dtype=bool)
    first[table.starts] = True
    before, after = np.roll(rank, 1), np.roll(rank, -1)
    gains = []
    for against in (np.greater, np.less):
        step_in = against(before, rank) & ~first
        step_out = against(rank, after) & ~last
        without = against(before, after) & ~first & ~last
        steps = table.total(step_out)
        gains.append((steps, step_in.astype(float) + step_out - without))
    (ascending, ascending_gain), (descending, descending_gain) = gains
    chosen: Floats = np.where(ascending <= descending, ascending_gain, descending_gain)
    return chosen


def _nearest_shown(table: Table) -> Floats:
    nearest = np.full(len(table), np.nan)
    for number, scene in enumerate(table.scenes):
        rows = np.flatnonzero(table.scene == number)
        shown = {item["id"] for item in scene.shown}
        places = np.array([place for place, id in enumerate(scene.pool) if id in shown], dtype=float)
        if len(rows) and len(places):
            nearest[rows] = abs(table.pool[rows, None] - places).min(axis=1)
    return nearest


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
