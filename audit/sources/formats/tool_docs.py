"""Tool documentation as JSON Schema (draft 2020-12): with BFCL's type names, or as OpenAI's interfaces take it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec, Signature, ToolSpec

NATIVE_TYPE = "x-native-type"
"""Keyword that keeps a type name which has no meaning in JSON Schema or in BFCL."""

_TYPES = {
    "object": ("dict", "object", "hashmap", "hashtable", "map"),
    "array": ("array", "list", "tuple", "arraylist", "queue", "stack", "set"),
    "number": ("float", "number", "double"),
    "integer": ("integer", "int", "byte", "short", "long", "bigint", "biginteger"),
    "string": ("string", "str", "char"),
    "boolean": ("boolean", "bool"),
    "null": ("null",),
}
_JSON_TYPE = {native: json_type for json_type, names in _TYPES.items() for native in names}


def translate(schema: Any, pointer: str) -> dict[str, Any]:
    """Translate the type names of a schema at every depth; everything else is kept as it is.

    ``any`` becomes the absence of a type. A name without meaning is kept under :data:`NATIVE_TYPE`.

    Args:
        schema: BFCL's schema.
        pointer: where it is in the record, for messages.

    Raises:
        MalformedRecordError: when a schema is not an object.

    >>> translate({"type": "dict", "properties": {"xs": {"type": "tuple", "items": {"type": "float"}}}}, "")
    {'type': 'object', 'properties': {'xs': {'type': 'array', 'items': {'type': 'number'}}}}
    """
    translated: dict[str, Any] = {}
    for key, value in expect(schema, dict, pointer).items():
        if key == "type":
            translated.update(_type(value))
        elif key == "properties":
            properties = expect(value, dict, join(pointer, key))
            translated[key] = {name: translate(s, join(pointer, key, name)) for name, s in properties.items()}
        elif key == "items" and isinstance(value, list):
            translated["prefixItems"] = [translate(s, join(pointer, key, i)) for i, s in enumerate(value)]
        elif key == "items" or (key == "additionalProperties" and not isinstance(value, bool)):
            translated[key] = translate(value, join(pointer, key))
        else:
            translated[key] = value
    return translated


def _type(native: Any) -> dict[str, Any]:
    if isinstance(native, str) and native.lower() == "any":
        return {}
    name = _JSON_TYPE.get(native.lower()) if isinstance(native, str) else None
    return {NATIVE_TYPE: native} if name is None else {"type": name}


def tool(
    doc: Mapping[str, Any],
    language: Literal["python", "java", "javascript"],
    origin: Origin,
    *,
    group: str | None = None,
    effect: Literal["read", "unknown"] = "unknown",
    implementation: Signature | None = None,
) -> ToolSpec:
    """Build the record of one documented function.

    Args:
        doc: BFCL's documentation, with name, description, parameters and perhaps response.
        language: language whose types the values follow.
        origin: where the documentation is.
        group: class that the function belongs to.
        effect: read when no call can change anything.
        implementation: what the code takes, when it is available.

    Raises:
        MalformedRecordError: when a field is missing or of the wrong type.
    """
    parameters = translate(member(doc, "parameters", dict, origin.pointer), join(origin.pointer, "parameters"))
    parameters.setdefault("properties", {})
    response = doc.get("response")
    return ToolSpec(
        name=member(doc, "name", str, origin.pointer),
        description=member(doc, "description", str, origin.pointer) if "description" in doc else "",
        parameters=parameters,
        returns=None if response is None else translate(response, join(origin.pointer, "response")),
        language=language,
        effect=effect,
        group=group,
        implementation=implementation,
        origin=origin,
    )


_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""Fields under which interfaces give the schema of the arguments."""


class EnvironmentBuilder:
    """Builds environments. Equal tools with an equal policy give the same object."""

    def __init__(self) -> None:
        self._environments: dict[tuple[str, str], EnvironmentSpec] = {}

    def environment(self, tools: Sequence[Any], origin: Origin, policy: str = "") -> EnvironmentSpec:
        """Return the environment that offers some tools under a policy.

        Args:
            tools: the documentation, either ``{"type": "function", "function": {...}}`` or the inner object alone.
            origin: where the list of tools is.
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
