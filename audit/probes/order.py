"""Probes of where a candidate stands: in the list that is offered, and in the list of all items."""

from collections.abc import Iterator

import numpy as np

from agenthard.audit.probes.columns import Floats, Ints
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
    says = "stands where the answers of the same task stand that the rules settle"
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
    yield Probe("pool:near", _POOL, _POOL, "stands nearest to a shown item in the file's list of all items", -near)
    yield Probe("pool:far", _POOL, _POOL, "stands farthest from any shown item in the file's list of all items", near)


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
