"""Tool schemas as model providers want them, generated from the one declaration in :mod:`ace.environment.tools`."""

from typing import Any

from agenthard.ace.environment.mode import Mode
from agenthard.ace.environment.tools import Tool

JsonSchema = dict[str, Any]


def parameters(tool: Tool) -> JsonSchema:
    """Returns the JSON Schema of a tool's arguments.

    Args:
        tool: The tool.

    Returns:
        An object schema that allows no other keys.
    """
    return {
        "type": "object",
        "properties": {p.name: {**p.schema, "description": p.description} for p in tool.parameters},
        "required": [p.name for p in tool.parameters if p.required],
        "additionalProperties": False,
    }


def openai(tool: Tool, mode: Mode = Mode.PAPER) -> JsonSchema:
    """Returns a tool as the chat APIs of OpenAI, and those that follow them, want it.

    Args:
        tool: The tool.
        mode: In reference mode the schema has the form of the released code, its faults included: what arguments
            mean is told in the tool's description only, and a property ``kwargs`` without a type is required.

    Returns:
        A function schema.
    """
    function: JsonSchema = {"name": tool.name, "description": tool.description, "parameters": parameters(tool)}
    if mode is Mode.REFERENCE:
        lines = [f"{p.name}: {p.description}" for p in tool.parameters]
        function["description"] = "\n\n".join([tool.description, *(["\n".join(lines)] if lines else [])])
        function["parameters"] = _reference_parameters(tool)
    return {"type": "function", "function": function}


def gemini(tool: Tool) -> JsonSchema:
    """Returns a tool as Gemini wants it.

    Args:
        tool: The tool.

    Returns:
        A function declaration; one without arguments has no schema of them, because Gemini refuses an empty object.
    """
    declaration: JsonSchema = {"name": tool.name, "description": tool.description}
    if tool.parameters:
        declaration["parametersJsonSchema"] = parameters(tool)
    return declaration


def _reference_parameters(tool: Tool) -> JsonSchema:
    properties = {p.name: {**p.schema, "title": p.name.capitalize()} for p in tool.parameters}
    return {
        "properties": {**properties, "kwargs": {"title": "Kwargs"}},
        "required": [*(p.name for p in tool.parameters if p.required), "kwargs"],
        "title": "parameters",
        "type": "object",
    }
