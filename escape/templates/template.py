"""What a template is: one short declaration of a real function with its ports."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from agenthard.escape.ports import PHYSICAL, Port
from agenthard.taxonomy.errors import AgentHardError

Kind = Literal["tool", "terminal", "item", "lock", "container"]
"""item: gives its payload when it is looked at; lock: an item that needs a value; container: holds a thing."""
Values = Mapping[str, str]
"""Canonical values by port."""


class ToolUseError(AgentHardError):
    """A tool cannot work with these values; the message says why."""

    code = "AH621"
    remedy = "Give the tool other values; the message says what it needs."


class UnfillableError(AgentHardError):
    """No value of a free port suits what the other ports are given; the room is drawn again."""

    code = "AH622"
    remedy = "Nothing: the generator draws the room again."


@dataclass
class Files:
    """The files of a room by id. Their content is never shown; tools read them."""

    contents: dict[str, bytes] = field(default_factory=dict)

    def add(self, content: bytes) -> str:
        """Keep a file; equal contents have one id."""
        id = f"file_{hashlib.sha256(content).hexdigest()[:8]}"
        self.contents[id] = content
        return id

    def read(self, id: str) -> bytes:
        """Return the content of a file.

        Raises:
            ToolUseError: The file does not exist.
        """
        if id not in self.contents:
            raise ToolUseError("no file has this id")
        return self.contents[id]

    def copy(self) -> "Files":
        """Return files that can be added to without changing these."""
        return Files(dict(self.contents))

    def stored(self) -> dict[str, str]:
        """Return the contents as text, for a record."""
        return {id: base64.b64encode(content).decode() for id, content in sorted(self.contents.items())}

    @classmethod
    def restored(cls, stored: Mapping[str, str]) -> "Files":
        """Return the files of a record."""
        return cls({id: base64.b64decode(text) for id, text in stored.items()})


Run = Callable[[Values, Files], dict[str, str]]
"""Computes the outputs; raises ToolUseError."""
Fill = Callable[[Values, Random, Files], dict[str, str]]
"""Given the inputs that are known, makes values for all other inputs such that the tool works with all of them."""


@dataclass(frozen=True)
class Template:
    """A kind of part that rooms are made of."""

    id: str
    """Name, unique in the library."""
    kind: Kind
    """What it is."""
    about: str
    """What it does, as agents are told: a clause after "It"."""
    inputs: tuple[Port, ...]
    """What it needs."""
    outputs: tuple[Port, ...]
    """What it gives."""
    run: Run
    """The function."""
    fill: Fill
    """Makes values for inputs that nothing feeds."""

    @property
    def executable(self) -> bool:
        """Whether it has to be used, and not only looked at."""
        return self.kind != "item"

    @property
    def trigger(self) -> Port | None:
        """The input that makes it appear, in a variant."""
        return next((port for port in self.inputs if port.type in PHYSICAL), None)

    @property
    def params(self) -> tuple[Port, ...]:
        """The inputs that an agent gives."""
        return tuple(port for port in self.inputs if port.type not in PHYSICAL)

    @property
    def base(self) -> str:
        """Id without the mark of a variant."""
        return self.id.partition("__")[0]

    def input(self, name: str) -> Port:
        """Return an input by name."""
        return next(port for port in self.inputs if port.name == name)

    def output(self, name: str) -> Port:
        """Return an output by name."""
        return next(port for port in self.outputs if port.name == name)
