"""Structured replies: the request contains a JSON Schema, and the reply is validated against it."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agenthard.models.errors import ConfigurationError, MalformedReplyError
from agenthard.models.request import Completion, Model, OutputSchema, Request

T = TypeVar("T", bound=BaseModel)

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


async def parse(model: Model, request: Request, schema: type[T], *, purpose: str, owner: str) -> tuple[T, Completion]:
    """Ask for a reply that is a record.

    Args:
        model: The model.
        request: The request; its `output` is set here.
        schema: Type of the record; every field is required.
        purpose: Purpose of the request in the ledger (agenthard.models.request.Model).
        owner: Owner of the request in the ledger.

    Returns:
        The record, and the completion that it was read from.

    Raises:
        MalformedReplyError: The reply is cut off, a refusal, or not a valid record; the message says why. The request
            is not repeated: another `sample` of it may succeed.
        ConfigurationError: Models do not support the schema.
        ModelError: No reply.
    """
    output = OutputSchema(name=schema.__name__[:64], json_schema=strict_schema(schema))
    completion = await model.complete(request.model_copy(update={"output": output}), purpose=purpose, owner=owner)
    reply = completion.reply
    if reply.finish == "refusal":
        raise MalformedReplyError(f"{request.model} refused to return a {schema.__name__}: {reply.message.text[:300]}")
    if reply.finish == "length":
        raise MalformedReplyError(f"{request.model} was cut off within a {schema.__name__}; allow more output tokens")
    text = reply.message.text
    fenced = _FENCE.fullmatch(text)
    try:
        return schema.model_validate_json(fenced[1] if fenced else text), completion
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc'])) or 'reply'}: {f['msg']}" for f in error.errors()[:5])
    raise MalformedReplyError(f"{request.model} returned no valid {schema.__name__}: {faults}")


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a record in the form that strict modes accept.

    Every object is closed and requires all its fields, references have no siblings, choices are ``anyOf``, and there
    are not defaults.

    Args:
        schema: Type of the record.

    Raises:
        ConfigurationError: It contains an object with free keys or a tuple of fixed length, which strict modes refuse.
    """
    whole = schema.model_json_schema()
    strict: dict[str, Any] = _strict(whole, whole.get("$defs", {}), schema.__name__, ())
    return strict


def _strict(node: Any, known: dict[str, Any], place: str, open_: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_strict(part, known, place, open_) for part in node]
    if not isinstance(node, dict):
        return node
    node = {key: value for key, value in node.items() if key not in ("default", "discriminator")}
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name and len(node) > 1:
        if name in open_:
            return {"$ref": node["$ref"]}
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _strict({**known[name], **siblings}, known, place, (*open_, name))
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    if "prefixItems" in node or (node.get("type") == "object" and "properties" not in node):
        kind = "a tuple of fixed length" if "prefixItems" in node else "an object with free keys"
        raise ConfigurationError(f"{place} is {kind}, which strict modes do not support; use a list of records")
    if "properties" in node:
        fields = node["properties"]
        node |= {
            "properties": {key: _strict(value, known, f"{place}.{key}", open_) for key, value in fields.items()},
            "required": list(fields),
            "additionalProperties": False,
        }
    if "$defs" in node:
        node["$defs"] = {key: _strict(value, known, key, (*open_, key)) for key, value in node["$defs"].items()}
    return {
        key: _strict(value, known, place, open_) if key in ("anyOf", "allOf", "items") else value
        for key, value in node.items()
    }
