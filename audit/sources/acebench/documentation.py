"""ACEBench's function documentation as JSON Schema (draft 2020-12)."""

from typing import Any

from agenthard.audit.sources.formats.malformed import expect, member
from agenthard.audit.sources.formats.tool_docs import translate
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import ToolSpec

NATIVE_FORMAT = "x-format"
"""Keyword that keeps a format which the answers do not mean in the sense of JSON Schema."""

LOCAL_FORMATS = ("date-time", "time")
"""JSON Schema wants a time zone in these. The users of ACEBench name none, most answers give none, nothing reads it."""


def tool(doc: Any, origin: Origin) -> ToolSpec:
    """Build the record of one documented function.

    Args:
        doc: the documentation, with its schema under ``parameters`` or under ``arguments``.
        origin: where it stands.

    Raises:
        Malformed: when a field is missing or of the wrong type.
    """
    fields = expect(doc, dict, origin.pointer)
    written = "arguments" if "arguments" in fields and "parameters" not in fields else "parameters"
    parameters = _schema(member(fields, written, dict, origin.pointer), join(origin.pointer, written))
    parameters.setdefault("properties", {})
    results = fields.get("results")
    return ToolSpec(
        name=member(fields, "name", str, origin.pointer),
        description=member(fields, "description", str, origin.pointer) if "description" in fields else "",
        parameters=parameters,
        returns=None if results is None else _schema(results, join(origin.pointer, "results")),
        origin=origin,
    )


def _schema(written: Any, pointer: str) -> dict[str, Any]:
    schema = translate(written, pointer)
    _keep_formats(schema)
    return schema


def _keep_formats(schema: dict[str, Any]) -> None:
    if schema.get("format") in LOCAL_FORMATS:
        schema[NATIVE_FORMAT] = schema.pop("format")
    below = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("prefixItems", ())]
    for inner in below:
        if isinstance(inner, dict):
            _keep_formats(inner)
