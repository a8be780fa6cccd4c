"""Tools documented as JSON Schema, as OpenAI's interfaces take them."""

import json
from collections.abc import Sequence
from typing import Any

from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec, ToolSpec

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""Fields under which interfaces give the schema of the arguments."""


class Toolbox:
    """Builds environments. Equal tools with an equal policy give the same object."""

    def __init__(self) -> None:
        self._environments: dict[tuple[str, str], EnvironmentSpec] = {}

    def environment(self, tools: Sequence[Any], origin: Origin, policy: str = "") -> EnvironmentSpec:
        """Return the environment that offers some tools under a policy.

        Args:
            tools: the documentation, either ``{"type": "function", "function": {...}}`` or the inner object alone.
            origin: where the list of tools stands.
            policy: the system prompt.

        Raises:
            MalformedRecordError: when a documentation breaks the format; its pointer starts with that of ``origin``.
        """
        key = (policy, json.dumps(tools))
        if key not in self._environments:
            specs = tuple(_tool(item, origin, index) for index, item in enumerate(tools))
            self._environments[key] = EnvironmentSpec(tools=specs, policy=policy)
        return self._environments[key]


def _tool(item: Any, origin: Origin, index: int) -> ToolSpec:
    pointer = join(origin.pointer, index)
    doc = expect(item, dict, pointer)
    if isinstance(doc.get("function"), dict):
        pointer = join(pointer, "function")
        doc = doc["function"]
    elif "name" not in doc and isinstance(doc.get("type"), str):
        doc = {"name": doc["type"], "description": ""}  # a tool of the provider's own, such as web_search
    description = doc.get("description")
    return ToolSpec(
        name=member(doc, "name", str, pointer),
        description="" if description is None else expect(description, str, join(pointer, "description")),
        parameters=_parameters(doc, pointer),
        origin=Origin(file=origin.file, line=origin.line, pointer=pointer),
    )


def _parameters(doc: dict[str, Any], pointer: str) -> dict[str, Any]:
    field = next((name for name in _SCHEMAS if doc.get(name) is not None), None)
    if field is None:
        return {"type": "object", "properties": {}}
    schema = dict(expect(doc[field], dict, join(pointer, field)))
    properties = schema.setdefault("properties", {})
    if not isinstance(properties, dict):
        raise MalformedRecordError("the properties of a schema must be an object", join(pointer, field, "properties"))
    return schema
