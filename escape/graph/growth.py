"""Grows a graph from the exit backwards, as in the paper: an input is fed by a node that is there or by a new one."""

from dataclasses import dataclass, field
from functools import cache
from random import Random

from agenthard.escape.graph.skeleton import Edge, Skeleton
from agenthard.escape.ports import PHYSICAL, Port, PortType
from agenthard.escape.templates.library import LIBRARY, VARIANTS, find_template, variants_of_items
from agenthard.escape.templates.template import Template
from agenthard.escape.templates.terminals import TERMINALS
from agenthard.play.errors import GenerationError

DROP_RATIO = 0.3
"""Share of new nodes that are drawn from the variants, which stay hidden at first: the paper's."""
ITEM_WEIGHT = 0.05
"""Weight of an item next to a tool, where both give what is needed."""
ITEM_SHARE = {5: 0.95, 10: 0.65, 15: 0.45, 20: 0.46}
"""How often an input that only items can feed is fed by one, by the size of the room; else its value is told in a text.
Chosen so that the mean of the fewest calls comes out as in the paper's Table 3."""
_ATTEMPTS = 2000


def item_share(nodes: int) -> float:
    """Return the share for a size, interpolated between the paper's sizes."""
    sizes = sorted(ITEM_SHARE)
    if nodes <= sizes[0] or nodes >= sizes[-1]:
        return ITEM_SHARE[sizes[0] if nodes <= sizes[0] else sizes[-1]]
    low = max(size for size in sizes if size <= nodes)
    high = min(size for size in sizes if size >= nodes)
    part = (nodes - low) / (high - low) if high > low else 0.0
    return ITEM_SHARE[low] + part * (ITEM_SHARE[high] - ITEM_SHARE[low])


def grow(nodes: int, rng: Random) -> Skeleton:
    """Grow one graph.

    Args:
        nodes: How many nodes it has.
        rng: Its chance.

    Returns:
        A sound graph.

    Raises:
        GenerationError: No attempt reached that many nodes.
    """
    for _ in range(_ATTEMPTS):
        skeleton = _Growth(nodes, rng).run()
        if skeleton is not None:
            return skeleton
    raise GenerationError(f"no graph of {nodes} nodes was found in {_ATTEMPTS} attempts; use another size or seed")


@cache
def _producers(type: PortType, droppable: bool, special: bool) -> tuple[tuple[Template, ...], tuple[float, ...]]:
    """What can be drawn to feed an input: templates with an output of its type, and their weights."""
    pool = [*VARIANTS.values(), *variants_of_items().values()] if droppable else list(LIBRARY.values())
    kinds = ("item", "lock") if special else ("tool", "item", "lock", "container")
    found = tuple(t for t in pool if t.kind in kinds and any(port.type == type for port in t.outputs))
    return found, tuple(ITEM_WEIGHT if t.kind in ("item", "lock") else 1.0 for t in found)


@dataclass
class _Growth:
    nodes: int
    rng: Random
    templates: list[Template] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    waiting: list[tuple[int, Port]] = field(default_factory=list)
    exclusive: set[tuple[int, str]] = field(default_factory=set)

    def run(self) -> Skeleton | None:
        goal = self.rng.choice(TERMINALS)
        if self.nodes > 2 and self.rng.random() < DROP_RATIO / 2:
            goal = VARIANTS[f"{goal.id}__{self.rng.choice(('item', 'hidden'))}"]
        self._add(goal)
        while len(self.templates) < self.nodes:
            if not self.waiting:
                return None
            self._feed(*self.waiting.pop(self.rng.randrange(len(self.waiting))))
        self._resolve_triggers()
        skeleton = Skeleton(tuple(template.id for template in self.templates), tuple(self.edges))
        return None if next(skeleton.problems(), None) else skeleton

    def _feed(self, node: int, port: Port) -> None:
        """Feed an input by a node that is there or by a new one, or leave it: it becomes a source."""
        there = self._there(node, port)
        reuse = 0.3 + 0.3 * len(self.templates) / self.nodes
        if there and self.rng.random() < reuse:
            source, output = self.rng.choice(there)
        else:
            template = self._drawn(port)
            if template is None:
                return
            source = self._add(template)
            output = self.rng.choice([each.name for each in template.outputs if each.type == port.type])
        self.edges.append(Edge(source, output, node, port.name))
        if port.special:
            self.exclusive.add((source, output))

    def _there(self, node: int, port: Port) -> list[tuple[int, str]]:
        """Outputs of present nodes that may feed an input without a cycle and without telling one thing twice."""
        behind = self._behind(node)
        used = {(edge.source, edge.output) for edge in self.edges}
        feeding = {(edge.source, edge.output) for edge in self.edges if edge.target == node}
        found = []
        for source, template in enumerate(self.templates):
            if source in behind or template.kind == "terminal":
                continue
            if port.special and template.kind not in ("item", "lock"):
                continue
            for output in template.outputs:
                key = source, output.name
                alone = port.special or output.type in PHYSICAL
                if output.type != port.type or key in self.exclusive or key in feeding or (alone and key in used):
                    continue
                # What a file or a program is, only the tool that reads it can say: nothing else may use it.
                if output.type in ("File_Id", "Code_Python") and key in used:
                    continue
                found.append(key)
        return found

    def _behind(self, node: int) -> set[int]:
        """The node and everything that depends on it."""
        found = {node}
        for _ in range(len(self.templates)):
            more = {edge.target for edge in self.edges if edge.source in found}
            if more <= found:
                break
            found |= more
        return found

    def _drawn(self, port: Port) -> Template | None:
        droppable = port.type not in PHYSICAL and self.rng.random() < DROP_RATIO
        templates, weights = _producers(port.type, droppable, port.special)
        if not templates:
            return None
        only_items = all(template.kind in ("item", "lock") for template in templates)
        if only_items and self.rng.random() >= item_share(self.nodes):
            return None
        return self.rng.choices(templates, weights)[0]

    def _add(self, template: Template) -> int:
        self.templates.append(template)
        node = len(self.templates) - 1
        self.waiting += [(node, port) for port in template.inputs]
        return node

    def _resolve_triggers(self) -> None:
        """A node that nothing makes appear is visible from the start."""
        fed = {edge.target for edge in self.edges if edge.input == "trigger"}
        for node, template in enumerate(self.templates):
            if template.trigger and node not in fed:
                base = find_template(template.base)
                assert base is not None
                self.templates[node] = base
