"""Documentation of tools, in any of the usual shapes."""

import re
from collections.abc import Mapping
from typing import Any

from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect
from agenthard.audit.sources.formats.tool_docs import translate
from agenthard.audit.sources.mapping.paths import structured
from agenthard.audit.sources.mapping.tool_code import is_openapi, is_python, openapi_tools, python_tools
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import ToolSpec

TOOL_NAMES = ("name", "tool_name", "function_name", "api_name")
"""Keys under which formats keep the name of a tool."""
SCHEMA_KEYS = ("parameters", "arguments", "input_schema", "inputSchema", "args_schema", "params")
"""Keys under which formats keep the schema of the arguments."""
RESULT_KEYS = ("returns", "response", "results", "outputSchema", "output_schema", "x_returns")
"""Keys under which formats keep the schema of the result."""
_OPTIONAL = re.compile(r",\s*optional\s*$", re.IGNORECASE)


def read_tools(value: Any, origin: Origin) -> tuple[ToolSpec, ...]:
    """Read a list of tools, or an object of them by name.

    Args:
        value: the list or object; perhaps as JSON text. A tool may be in OpenAI's wrapper. Python source with functions
            and OpenAPI documents are documentation too.
        origin: where it is.

    Raises:
        MalformedRecordError: when it is not a documentation of tools.
    """
    value = structured(value)
    if is_python(value):
        return python_tools(value, origin)
    if is_openapi(value):
        return openapi_tools(value, origin)
    if isinstance(value, list) and value and all(map(is_python, value)):
        return tuple(tool for index, source in enumerate(value) for tool in python_tools(source, _below(origin, index)))
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list):
        value, origin = value["tools"], _below(origin, "tools")
    if isinstance(value, Mapping) and not _is_doc(value):
        items = [(key, {"name": key, **expect(doc, dict, join(origin.pointer, key))}) for key, doc in value.items()]
        return tuple(_tool(doc, _below(origin, key)) for key, doc in items)
    listed = [value] if isinstance(value, Mapping) else expect(value, list, origin.pointer)
    return tuple(_tool(structured(doc), _below(origin, index)) for index, doc in enumerate(listed))


def _is_doc(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(key), str) for key in TOOL_NAMES) or isinstance(value.get("function"), Mapping)


def _below(origin: Origin, part: str | int) -> Origin:
    return origin.model_copy(update={"pointer": join(origin.pointer, part)})


def _tool(doc: Any, origin: Origin) -> ToolSpec:
    fields = expect(doc, dict, origin.pointer)
    if isinstance(fields.get("function"), Mapping):
        outer = {key: item for key, item in fields.items() if key not in ("function", "type")}
        fields, origin = {**outer, **fields["function"]}, _below(origin, "function")
    name = next((fields[key] for key in TOOL_NAMES if isinstance(fields.get(key), str)), "")
    if not name:
        raise MalformedRecordError("the documentation of a tool needs a name", origin.pointer)
    key = next((key for key in SCHEMA_KEYS if key in fields), None)
    result = next((key for key in RESULT_KEYS if isinstance(fields.get(key), Mapping)), None)
    description = fields.get("description")
    return ToolSpec(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=_schema(structured(fields[key]), join(origin.pointer, key)) if key else _nothing(),
        returns=_translated(fields[result], join(origin.pointer, result)) if result else None,
        effect=_effect(fields),
        origin=origin,
    )


def _effect(fields: Mapping[str, Any]) -> Any:
    stated = fields.get("effect", fields.get("x_tool_type"))
    return stated if stated in ("read", "write") else "unknown"


def _nothing() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


def _schema(written: Any, pointer: str) -> dict[str, Any]:
    """Read the schema of the arguments; an object of parameters without a schema around it is put into one."""
    if written is None or written == []:
        return _nothing()
    if isinstance(written, list) and all(isinstance(item, Mapping) and "name" in item for item in written):
        written = {str(item["name"]): {key: each for key, each in item.items() if key != "name"} for item in written}
    fields = expect(written, dict, pointer)
    bare = "properties" not in fields and "$ref" not in fields and all(isinstance(v, Mapping) for v in fields.values())
    schema = _around(fields) if bare else dict(fields)
    schema = _translated(schema, pointer)
    schema.setdefault("properties", {})
    return schema


def _around(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Put parameters into a schema; a parameter without a default is not required for that reason alone."""
    properties, required = {}, []
    for name, written in parameters.items():
        doc = dict(written)
        if doc.get("required") is True:
            required.append(name)
        if isinstance(doc.get("required"), bool):
            del doc["required"]
        if isinstance(doc.get("type"), str):
            doc["type"] = _OPTIONAL.sub("", doc["type"])
        properties[name] = doc
    return {"type": "object", "properties": properties, "required": required}


def _translated(schema: Any, pointer: str) -> dict[str, Any]:
    """Translate type names; a list of types, which JSON Schema has too, is translated one by one."""
    translated = translate(schema, pointer)
    _restore_type_lists(schema, translated)
    return translated


def _restore_type_lists(written: Any, translated: Any) -> None:
    if not isinstance(written, Mapping) or not isinstance(translated, dict):
        return
    types = written.get("type")
    if isinstance(types, list) and types and all(isinstance(name, str) for name in types):
        names = [translate({"type": name}, "").get("type") for name in types]
        translated.pop("x-native-type", None)
        if None not in names:
            translated["type"] = list(dict.fromkeys(names))
    for name, inner in (written.get("properties") or {}).items():
        _restore_type_lists(inner, translated["properties"][name])
    _restore_type_lists(written.get("items"), translated.get("items"))
