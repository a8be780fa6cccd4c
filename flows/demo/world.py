"""A small world of the demo benchmark: a database, and tools that are methods documented where they stand."""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, ClassVar, Literal, TypeVar

from agenthard.taxonomy import Signature, ToolSpec
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Origin

_Tool = TypeVar("_Tool", bound=Callable[..., dict[str, Any]])
Schema = dict[str, Any]


class RefusedError(AgentHardError):
    """A tool cannot do what it was asked; the message is its response."""

    code = "AH805"
    remedy = "Nothing: the simulated agent reads the message."


def text(description: str, pattern: str | None = None) -> Schema:
    """Return the JSON Schema of a string parameter."""
    return {"type": "string", "description": description, **({"pattern": pattern} if pattern else {})}


def choice(description: str, *values: str) -> Schema:
    """Return the JSON Schema of a string parameter with a fixed set of values."""
    return {"type": "string", "description": description, "enum": list(values)}


def whole(description: str, low: int, high: int) -> Schema:
    """Return the JSON Schema of an integer parameter."""
    return {"type": "integer", "description": description, "minimum": low, "maximum": high}


def tool(effect: Literal["read", "write"], description: str, **parameters: Schema) -> Callable[[_Tool], _Tool]:
    """Make a method of a world a tool.

    Args:
        effect: whether a call can change the database.
        description: documentation for the agent.
        parameters: JSON Schema of each parameter; one whose Python parameter has a default is optional.
    """

    def register(method: _Tool) -> _Tool:
        taken = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
        required = tuple(p.name for p in taken if p.default is p.empty)
        properties = {
            p.name: parameters[p.name] if p.default is p.empty else {**parameters[p.name], "default": p.default}
            for p in taken
        }
        schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
        signature = Signature(
            parameters=tuple(properties),
            required=required,
            source=_head(method),
            origin=Origin(file="environments.jsonl"),
        )
        spec = ToolSpec(
            name=method.__name__,
            description=description,
            parameters=schema,
            effect=effect,
            implementation=signature,
        )
        method.spec = spec  # type: ignore[attr-defined]
        return method

    return register


def _head(method: Callable[..., Any]) -> str:
    lines = [line.strip() for line in inspect.getsource(method).splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    end = next(i for i, line in enumerate(lines) if i >= start and line.endswith(":"))
    return " ".join(lines[start : end + 1]).replace("( ", "(").replace(" )", ")")


class World:
    """A database and the tools that act on it. Subclasses give ``initial`` and methods marked with :func:`tool`."""

    initial: ClassVar[dict[str, dict[str, Any]]]
    """Tables of the database before the first call: rows by id."""

    def __init__(self) -> None:
        self.state = deepcopy(self.initial)

    @classmethod
    def tools(cls) -> tuple[ToolSpec, ...]:
        """Return the tools in the order of their definition."""
        return tuple(method.spec for method in vars(cls).values() if hasattr(method, "spec"))

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Execute one call; a call that cannot be executed changes nothing and says so under ``error``."""
        spec = next((spec for spec in self.tools() if spec.name == name), None)
        if spec is None or spec.implementation is None:
            return {"error": f"there is no tool named {name}"}
        unknown = sorted(set(arguments) - set(spec.implementation.parameters))
        missing = [key for key in spec.implementation.required if key not in arguments]
        if unknown or missing:
            return {
                "error": f"{name}: " + "; ".join([f"unexpected {k}" for k in unknown] + [f"no {k}" for k in missing])
            }
        before = deepcopy(self.state)
        try:
            response: dict[str, Any] = getattr(self, name)(**arguments)
        except (RefusedError, TypeError) as error:
            self.state = before
            return {"error": str(error)}
        return response

    def row(self, table: str, key: str) -> dict[str, Any]:
        """Return a row of the database.

        Raises:
            RefusedError: when the table has no such row.
        """
        if not isinstance(key, str) or key not in self.state[table]:
            raise RefusedError(f"{key} is not among the {table}")
        found: dict[str, Any] = self.state[table][key]
        return found
