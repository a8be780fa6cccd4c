"""Tools on graphs. All sizes are limited."""

import heapq
import json
from random import Random

from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.files import document
from agenthard.escape.templates.template import Files, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.values import WORDS


def _shortest(values: Values, files: Files) -> dict[str, str]:
    graph = document(files, values["graph"])
    if not isinstance(graph, dict) or len(graph) > 1000:
        raise ToolUseError("the file is not a graph")
    reached: set[str] = set()
    heap: list[tuple[int, str]] = [(0, values["source"])]
    while heap:
        length, place = heapq.heappop(heap)
        if place == values["target"]:
            return {"length": str(length)}
        if place not in reached:
            reached.add(place)
            onward = graph.get(place, {})
            if not isinstance(onward, dict) or not all(isinstance(way, int) and way >= 0 for way in onward.values()):
                raise ToolUseError("the file is not a graph with lengths")
            for node, way in onward.items():
                heapq.heappush(heap, (length + way, node))
    raise ToolUseError("no way leads from the source to the target")


def _graph_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    names = [f"{word} {rng.randrange(1000, 10_000)}" for word in rng.sample(WORDS, 7)]
    made = {name: names.pop() for name in ("source", "target") if name not in known}
    both = dict(known) | made
    places = [both["source"], *names[:5], both["target"]]
    if len(set(places)) < len(places):
        raise UnfillableError("a place occurs twice")
    graph: dict[str, dict[str, int]] = {place: {} for place in places}
    # Lengths are different powers of two times a large number: no two ways have the same length.
    lengths = [rng.randrange(10**9, 2 * 10**9) + (1 << at) for at in range(60)]
    rng.shuffle(lengths)
    for at, place in enumerate(places):
        for other in rng.sample(places[:at], min(at, 2)) + ([places[at - 1]] if at else []):
            graph[place][other] = graph[other][place] = lengths.pop()
    return made | {"graph": files.add(json.dumps(graph, sort_keys=True).encode())}


GRAPHS = (
    tool(
        "shortest_path",
        "measures the shortest way between two places on a map",
        ["graph:F! the map", "source:T the place to start from", "target:T the place to go to"],
        ["length:B the length of the way"],
        _shortest,
        _graph_fill,
    ),
)
