"""Graphs for the rooms of one size, no two of them isomorphic. Each room has several, in case one cannot be filled.

Which graph belongs to which room follows from the seed, the size and the number of rooms alone, so that any process can
grow any of them again.
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from random import Random

from agenthard.escape.graph.growth import grow
from agenthard.escape.graph.skeleton import Skeleton
from agenthard.play.errors import GenerationError

GRAPHS = 4
"""Graphs that each room has from one pass over the rooms."""
_TRIES = 5_000


def first_graphs(seed: int, nodes: int, rooms: int) -> Iterator[tuple[Skeleton, ...]]:
    """Yield the graphs of each room.

    Args:
        seed: Seed of the suite.
        nodes: Parts of a room.
        rooms: Rooms of this size.

    Raises:
        GenerationError: There are too few graphs of this size.
    """
    return _one_pass(seed, nodes, rooms, set(), 0)


def further_graphs(seed: int, nodes: int, rooms: int, number: int, again: int) -> tuple[Skeleton, ...]:
    """Return other graphs for a room whose graphs cannot be filled.

    They are those that a further pass over all rooms of the size gives this room, so that they belong to no other,
    whichever of the others need further ones, too. It takes as long as all these passes.

    Args:
        seed: Seed of the suite.
        nodes: Parts of a room.
        rooms: Rooms of this size.
        number: Number of the room, from 0.
        again: Number of the further pass, from 1.

    Raises:
        GenerationError: There are too few graphs of this size.
    """
    seen: set[bytes] = set()
    for before in range(again):
        deque(_one_pass(seed, nodes, rooms, seen, before), maxlen=0)
    return next(islice(_one_pass(seed, nodes, rooms, seen, again), number, None))


def _one_pass(seed: int, nodes: int, rooms: int, seen: set[bytes], again: int) -> Iterator[tuple[Skeleton, ...]]:
    for number in range(rooms):
        rng = Random(f"{seed}/{nodes}/{number}/graph" + (f"/{again}" if again else ""))
        yield tuple(_new_graph(nodes, rng, seen) for _ in range(GRAPHS))


def _new_graph(nodes: int, rng: Random, seen: set[bytes]) -> Skeleton:
    for _ in range(_TRIES):
        skeleton = grow(nodes, rng)
        key = skeleton.key()
        if key not in seen:
            seen.add(key)
            return skeleton
    raise GenerationError(f"no more graphs of {nodes} parts were found; ask for fewer rooms of this size")
