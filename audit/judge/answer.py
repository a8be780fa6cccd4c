"""What a judge has to answer: the schema that goes with the request, and the same in words."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from agenthard.audit.judge.verdict import Verdict
from agenthard.models.structured import strict_schema


def answer_schema(categories: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of a verdict, as strict modes take it, in which only these categories can be named.

    It is made once for the same categories, which takes longer than the rest of a prompt; nobody changes it.
    """
    return _schema(tuple(categories))


@cache
def _schema(categories: tuple[str, ...]) -> dict[str, Any]:
    schema = strict_schema(Verdict)
    del schema["description"]
    category = schema["$defs"]["Issue"]["properties"]["category"]
    category["enum"] = list(categories)
    return schema


@cache
def answer_fields() -> tuple[str, ...]:
    """List the fields of a verdict with what belongs into them, for judges that get no schema."""
    schema = strict_schema(Verdict)
    return tuple(_fields(schema, schema["$defs"], ""))


def _fields(node: dict[str, Any], known: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in node["properties"].items():
        item = value.get("items", {})
        inner = known.get(str(item.get("$ref", "")).removeprefix("#/$defs/"))
        yield f"{indent}- `{name}` ({_kind(value)}): {value['description']}"
        if inner is not None:
            yield from _fields(inner, known, indent + "  ")


def _kind(value: dict[str, Any]) -> str:
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if value["type"] == "number":
        return f"number from {value['minimum']:g} to {value['maximum']:g}"
    return {"string": "text", "array": "list of objects"}[value["type"]]
