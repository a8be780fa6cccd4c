"""A room: the public part, which agents may get to see, and the private part, which decides and scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agenthard.escape.ports import PortType
from agenthard.escape.templates.template import Kind

CANARY = "AgentEscapeBench data must not be used for training: canary 6b1f2d6e-8a53-4c0e-9b0a-9d5f7c3e1a42"
"""Text in every room, by which a model that was trained on rooms can be recognised."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter or an output of a part of the room, as agents are told."""

    name: str
    """Its name."""
    type: PortType
    """Its type."""
    about: str
    """What it means."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the room: a tool, an exit, an item, a lock or a container."""

    id: str
    """Id; it tells nothing about the graph."""
    kind: Kind
    """What it is."""
    brief: str
    """One line that is shown when it is in sight."""
    detail: str
    """What is told when it is looked at."""
    params: tuple[Param, ...]
    """What it needs."""
    gives: tuple[Param, ...]
    """What it gives."""


@dataclass(frozen=True, slots=True)
class Room:
    """The public part: everything that an agent may read in the course of an episode, and nothing else."""

    id: str
    """Id of the room."""
    nodes: int
    """Number of parts."""
    theme: str
    """Name of the theme."""
    story: str
    """The text at the start."""
    parts: tuple[Part, ...]
    """All parts, in the order of their ids."""
    visible: tuple[str, ...]
    """Ids of the parts that are in sight at the start."""
    canary: str = CANARY
    """See ``CANARY``."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge of the graph."""

    source: str
    """Id of the part that gives."""
    output: str
    """Its output."""
    target: str
    """Id of the part that takes."""
    input: str
    """Its parameter; ``trigger`` for what makes the target appear."""


@dataclass(frozen=True, slots=True)
class Clue:
    """A value that a text tells."""

    cue: str
    """The words that it is found by."""
    value: str
    """The value."""
    type: PortType
    """Its type."""
    place: str
    """Id of the part whose detail tells it; empty for the story."""
    target: str
    """Id of the part that needs it, or would need it if it were not a decoy."""
    input: str
    """The parameter."""
    true: bool
    """False for a decoy, which has the shape of the true value and which nothing needs."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The private side of a part."""

    template: str
    """Id of its template."""
    inputs: Mapping[str, str]
    """The right value of each parameter."""
    outputs: Mapping[str, str]
    """What it then gives; what a container drops is not a value."""
    cue: str
    """The words by which hints name it."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was proved about a room."""

    executions: str
    """Hash of all values; two executions gave the same."""
    links_found: int
    """Inputs that the texts narrow to exactly one source; all of them."""
    min_calls: int
    """Calls of the oracle, which solved the room through the environment, without the submission."""
    min_turns: int
    """Turns in which all this can be done when calls that do not depend on each other share a turn."""
    hidden: int
    """Parts that are out of sight at the start."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a room was made."""

    generator: str
    """Name and version of the generator."""
    seed: int
    """Seed of the suite."""
    index: int
    """Number of the room among those of its size."""
    attempts: int
    """How often values were drawn until all conditions were met."""
    versions: Mapping[str, str]
    """Versions of what the values depend on."""
    written: tuple[str, ...] = ()
    """What a model wrote of the room, and what of it was rejected and why; nothing where none was asked."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The private part."""

    mechanisms: Mapping[str, Mechanism]
    """By id of the part."""
    links: tuple[Link, ...]
    """The graph."""
    clues: tuple[Clue, ...]
    """What the texts tell: the sources, and the decoys."""
    files: Mapping[str, str]
    """Content of the files by id, in base 64."""
    salt: str
    """Secret of the exit."""
    answer: str
    """What is to be submitted."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A whole room."""

    room: Room
    """The public part."""
    secret: Secret
    """The private part."""
    certificate: Certificate | None = None
    """What was proved; None for a room that was not."""
    provenance: Provenance | None = None
    """How it was made; None where that is not known."""

    @property
    def id(self) -> str:
        """Id of the room."""
        return self.room.id

    @property
    def hidden(self) -> frozenset[str]:
        """Ids of the parts that are out of sight at the start."""
        return frozenset(part.id for part in self.room.parts) - frozenset(self.room.visible)

    @property
    def exit(self) -> str:
        """Id of the exit."""
        return next(part.id for part in self.room.parts if part.kind == "terminal")

    def feeds(self, part: str) -> dict[str, Link]:
        """Return the links that give values to a part, by parameter; what makes it appear is not among them."""
        return {link.input: link for link in self.secret.links if link.target == part and link.input != "trigger"}

    def drops(self, part: str) -> tuple[str, ...]:
        """Return the ids of the parts that appear when a part is opened."""
        return tuple(link.target for link in self.secret.links if link.source == part and link.input == "trigger")

    def order(self) -> list[str]:
        """Return the parts such that each comes after those that it depends on, by id where that leaves a choice."""
        before: dict[str, set[str]] = {part.id: set() for part in self.room.parts}
        for link in self.secret.links:
            before[link.target].add(link.source)
        order: list[str] = []
        while before:
            ready = sorted(part for part, needed in before.items() if needed <= set(order))
            if not ready:
                raise ValueError(f"the graph of {self.id} has a cycle")
            order.append(ready[0])
            del before[ready[0]]
        return order

    def min_turns(self) -> int:
        """Return the fewest turns that solve the room, whatever one turn may hold: look, use layer by layer, submit.

        Raises:
            ValueError: the graph has a cycle.
        """
        kinds = {part.id: part.kind for part in self.room.parts}
        appears = {link.target: link.source for link in self.secret.links if link.input == "trigger"}
        resolved: dict[str, int] = {}
        for id in self.order():
            looked = 1 + (resolved[appears[id]] if id in appears else 0)
            needed = (resolved[link.source] for link in self.feeds(id).values())
            resolved[id] = looked if kinds[id] == "item" else max(looked, *needed, 0) + 1
        return max(turn for id, turn in resolved.items() if kinds[id] == "terminal") + 1

    def facts(self) -> dict[str, Any]:
        """Return what reports sort by."""
        calls = sum(1 + (part.kind != "item") for part in self.room.parts)
        return {"nodes": self.room.nodes, "hidden": len(self.hidden), "min_calls": calls, "theme": self.room.theme}
