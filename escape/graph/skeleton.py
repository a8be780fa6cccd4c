"""A dependency graph without values."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from agenthard.escape.ports import PHYSICAL
from agenthard.escape.templates import find_template
from agenthard.escape.templates.template import Template


class Edge(NamedTuple):
    """What an output of one node gives to an input of another."""

    source: int
    """Index of the node that gives."""
    output: str
    """Its output."""
    target: int
    """Index of the node that takes."""
    input: str
    """Its input."""


@dataclass(frozen=True)
class Skeleton:
    """A graph: the exit is node 0."""

    templates: tuple[str, ...]
    """Id of the template of each node."""
    edges: tuple[Edge, ...]
    """All edges; those of physical types make the target appear."""

    def template(self, node: int) -> Template:
        """Return the template of a node."""
        found = find_template(self.templates[node])
        assert found is not None, f"no template {self.templates[node]}"
        return found

    def feeds(self, node: int) -> dict[str, Edge]:
        """Return the edges that lead to a node, by input."""
        return {edge.input: edge for edge in self.edges if edge.target == node}

    def order(self) -> list[int]:
        """Return the nodes such that every edge leads forward; of several that may come next, the last index."""
        waiting = Counter(edge.target for edge in self.edges)
        ready = [node for node in range(len(self.templates)) if not waiting[node]]
        order = []
        while ready:
            node = ready.pop()
            order.append(node)
            for edge in self.edges:
                if edge.source == node:
                    waiting[edge.target] -= 1
                    if not waiting[edge.target]:
                        ready.append(edge.target)
        return order

    def problems(self) -> Iterator[str]:
        """Yield why this is not a sound graph: a cycle, a node that does not lead to the exit, a thing used twice."""
        count = len(self.templates)
        if len(self.order()) < count:
            yield "the graph has a cycle"
        leading = {0}
        for _ in range(count):
            leading |= {edge.source for edge in self.edges if edge.target in leading}
        if len(leading) < count:
            yield f"{count - len(leading)} nodes do not lead to the exit"
        inputs = Counter((edge.target, edge.input) for edge in self.edges)
        if any(many > 1 for many in inputs.values()):
            yield "an input is fed twice"
        outputs = Counter((edge.source, edge.output) for edge in self.edges)
        for edge in self.edges:
            given = self.template(edge.source).output(edge.output)
            taken = self.template(edge.target).input(edge.input)
            if given.type != taken.type:
                yield f"an output of the type {given.type} feeds an input of the type {taken.type}"
            if outputs[edge.source, edge.output] > 1 and (given.type in PHYSICAL or taken.special):
                yield "what only one node may use is used by several"
        for node in range(count):
            trigger = self.template(node).trigger
            if trigger and (node, trigger.name) not in inputs:
                yield "nothing makes a hidden node appear"

    def key(self) -> bytes:
        """Return what isomorphic graphs share: how often each template and each kind of edge occurs.

        This is the key of the paper. Graphs that are not isomorphic may share it too, so it refuses some needlessly.
        """
        nodes = sorted(Counter(self.templates).items())
        kinds = Counter((self.templates[e.source], e.output, self.templates[e.target], e.input) for e in self.edges)
        return blake2b(repr((nodes, sorted(kinds.items()))).encode(), digest_size=16).digest()

    def min_calls(self) -> int:
        """Return the fewest calls that resolve every node: each is looked at, and used unless it is an item."""
        return sum(1 + self.template(node).executable for node in range(len(self.templates)))

    def hidden(self) -> int:
        """Return how many nodes are not visible at the start."""
        return sum(self.template(node).trigger is not None for node in range(len(self.templates)))
