"""Reads ``tools.json``: an array of tools in the form of chat completions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.tau.records import Native, UnreadableDomainError, explain
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import ToolSpec

Effect = Literal["read", "write", "unknown"]


class ToolFunction(Native):
    """The inner object of a tool."""

    name: str
    """Name."""
    description: str = ""
    """Documentation."""
    parameters: dict[str, Any]
    """JSON Schema of the arguments."""


class Tool(Native):
    """A tool, with the members that τ²-bench exports with it."""

    function: ToolFunction
    """The tool itself."""
    x_tool_type: str | None = None
    """read, write, think or generic."""
    x_returns: dict[str, Any] | None = None
    """JSON Schema of the response."""


def load_json(path: Path, name: str) -> Any:
    """Parse a JSON file that a whole domain depends on.

    Args:
        path: the file.
        name: its name in messages.

    Raises:
        UnreadableDomainError: when it cannot be read.
    """
    try:
        return load_document(path)
    except (OSError, ValueError) as error:
        raise UnreadableDomainError(name, f"cannot read the file as JSON: {error}") from error


def read_tools(path: Path, name: str, effect_of: Callable[[Tool], Effect]) -> tuple[ToolSpec, ...]:
    """Read the tools of a domain.

    Args:
        path: ``tools.json``.
        name: its name in messages.
        effect_of: tells whether a tool changes the state.

    Raises:
        UnreadableDomainError: when the file or one tool in it is malformed: a tool that is left out would make every
            ground truth that calls it look wrong.
    """
    value = load_json(path, name)
    if not isinstance(value, list):
        raise UnreadableDomainError(name, "expected a JSON array of tools")
    return tuple(_tool(item, i, name, effect_of) for i, item in enumerate(value))


def _tool(item: Any, index: int, name: str, effect_of: Callable[[Tool], Effect]) -> ToolSpec:
    try:
        tool = Tool.model_validate(item)
    except ValidationError as error:
        pointer, reason = explain(error, item)
        raise UnreadableDomainError(name, reason, f"/{index}{pointer}") from error
    return ToolSpec(
        name=tool.function.name,
        description=tool.function.description,
        parameters=tool.function.parameters,
        returns=None if tool.x_returns is None else without_dangling_refs(tool.x_returns),
        effect=effect_of(tool),
        origin=Origin(file=name, pointer=f"/{index}/function"),
    )


def without_dangling_refs(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace references to definitions that the schema does not carry by the name of what they refer to.

    >>> without_dangling_refs({"items": {"$ref": "#/$defs/Order", "description": "d"}})
    {'items': {'title': 'Order', 'description': 'd'}}
    """
    defined = schema.get("$defs", {})

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(item) for item in value]
        if not isinstance(value, dict):
            return value
        target = str(value.get("$ref", "")).removeprefix("#/$defs/")
        dangling = "$ref" in value and target not in defined
        items = {("title" if dangling and key == "$ref" else key): item for key, item in value.items()}
        return {key: target if dangling and key == "title" else clean(item) for key, item in items.items()}

    cleaned: dict[str, Any] = clean(schema)
    return cleaned
