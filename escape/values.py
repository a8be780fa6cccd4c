"""Gives a graph its values: sources and payloads are drawn, everything else is computed, in one pass from the sources.

A value that has to suit others, such as a modulus or a table, is made by the tool that uses it, when its other inputs
are known. What such an input is given by an item becomes the payload of the item.
"""

from dataclasses import dataclass, field
from random import Random

from agenthard.escape.graph.skeleton import Skeleton
from agenthard.escape.ports import PHYSICAL, PortType, canonical
from agenthard.escape.templates.template import Files, Template, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.terminals import SALT
from agenthard.escape.templates.values import ValueRandom, hex_digits, plain_value

_SMALL = 8
"""Values up to this length may occur twice as sources: a base or a country has few others."""


@dataclass(frozen=True)
class Told:
    """A value that a text has to tell: what an input needs, or a decoy of the same shape."""

    node: int
    """Index of the node."""
    input: str
    """Its input."""
    value: str
    """The value."""
    true: bool
    """False for a decoy."""


@dataclass
class Filled:
    """All values of a graph."""

    salt: str
    """Secret of the exit."""
    inputs: dict[int, dict[str, str]] = field(default_factory=dict)
    """By node and parameter."""
    outputs: dict[int, dict[str, str]] = field(default_factory=dict)
    """By node and output."""
    told: list[Told] = field(default_factory=list)
    """What texts have to tell, each true value followed by its decoys."""
    files: Files = field(default_factory=Files)
    """The files."""


def fill_graph(skeleton: Skeleton, seed: str, decoys: int, phrases: tuple[str, ...] = ()) -> Filled:
    """Draw and compute all values.

    Args:
        skeleton: The graph.
        seed: Seed of all chance; every node has a generator of its own.
        decoys: How many values of the same shape accompany each source.
        phrases: What texts among the values are made of, in place of our words.

    Returns:
        The values.

    Raises:
        UnfillableError: Values do not suit each other, or one occurs twice; draw again with another seed.
    """
    filled = Filled(hex_digits(Random(f"{seed}/salt"), 32))
    for node in skeleton.order():
        rng = ValueRandom(f"{seed}/{node}")
        rng.phrases = phrases
        _fill_node(skeleton, node, rng, filled, decoys)
    _require_distinct(skeleton, filled)
    return filled


def execute(template: Template, inputs: Values, files: Files, salt: str) -> dict[str, str]:
    """Run the function of a template.

    Returns:
        The canonical outputs.

    Raises:
        ToolUseError: It cannot work with these inputs.
        WrongTypeError: An output is not of the type of its port.
    """
    given = {**inputs, SALT: salt} if template.kind == "terminal" else inputs
    outputs = template.run(given, files)
    return {port.name: canonical(port.type, outputs[port.name]) for port in template.outputs}


def _fill_node(skeleton: Skeleton, node: int, rng: Random, filled: Filled, decoys: int) -> None:
    template, feeds = skeleton.template(node), skeleton.feeds(node)
    known, payloads = {}, {}
    for port in template.params:
        edge = feeds.get(port.name)
        if edge is None:
            continue
        value = filled.outputs[edge.source].get(edge.output)
        if value is None or port.special:
            payloads[port.name] = edge
        else:
            known[port.name] = value
    made = template.fill(known, rng, filled.files)
    inputs = {port.name: canonical(port.type, (known | made)[port.name]) for port in template.params}
    filled.inputs[node] = inputs
    for name, edge in payloads.items():
        filled.outputs[edge.source][edge.output] = inputs[name]
    free = [port for port in template.params if port.name not in known and port.name not in payloads]
    for port in free:
        filled.told.append(Told(node, port.name, inputs[port.name], true=True))
    for _ in range(decoys if free else 0):
        other = template.fill(known, rng, filled.files)
        filled.told += [Told(node, port.name, canonical(port.type, other[port.name]), true=False) for port in free]
    filled.outputs[node] = _outputs(skeleton, node, rng, filled)


def _outputs(skeleton: Skeleton, node: int, rng: Random, filled: Filled) -> dict[str, str]:
    template = skeleton.template(node)
    if template.kind == "container":
        return {}
    if template.kind in ("item", "lock"):
        # A payload that a tool has to make is made when the tool is filled.
        special = {
            edge.output
            for edge in skeleton.edges
            if edge.source == node and skeleton.template(edge.target).input(edge.input).special
        }
        return {port.name: plain_value(port.type, rng) for port in template.outputs if port.name not in special}
    try:
        outputs = execute(template, filled.inputs[node], filled.files, filled.salt)
    except ToolUseError as error:
        raise UnfillableError(f"{template.id}: {error}") from error
    if set(outputs.values()) & set(filled.inputs[node].values()):
        raise UnfillableError(f"{template.id} gives back what it is given")
    return outputs


def _require_distinct(skeleton: Skeleton, filled: Filled) -> None:
    """Refuse rooms in which one value could be taken for another; a decoy that is a value already is dropped."""
    seen: set[tuple[PortType, str]] = set()
    for node in range(len(skeleton.templates)):
        for port in skeleton.template(node).outputs:
            if port.type not in PHYSICAL:
                key = port.type, filled.outputs[node][port.name]
                if key in seen:
                    raise UnfillableError("two outputs have one value")
                seen.add(key)
    outputs, kept = frozenset(seen), list[Told]()
    for told in sorted(filled.told, key=lambda each: not each.true):
        type = skeleton.template(told.node).input(told.input).type
        key = type, told.value
        if told.true and (key in outputs or (key in seen and len(told.value) > _SMALL)):
            raise UnfillableError("a source has the value of something else")
        if told.true or key not in seen:
            kept.append(told)
        seen.add(key)
    filled.told = kept
