"""Replies that are records: the schema goes with the request, and what comes back is checked against it."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agenthard.models.errors import ConfigurationError, MalformedReplyError
from agenthard.models.provider import Model
from agenthard.models.request import Completion, OutputSchema, Request

T = TypeVar("T", bound=BaseModel)

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


async def parse(model: Model, request: Request, schema: type[T], *, purpose: str, owner: str) -> tuple[T, Completion]:
    """Ask for a record.

    Args:
        model: Who is asked.
        request: What is asked; its `output` is set here.
        schema: The record to get; every field of it is asked for.
        purpose: Who pays (agenthard.models.provider.Model).
        owner: What the request is for.

    Returns:
        The record, and the completion it was read from.

    Raises:
        MalformedReplyError: The reply is cut off, a refusal, or no such record; the message says what is wrong. The
            request is not repeated: another `sample` of it may do better.
        ConfigurationError: The schema cannot be put to a model.
        ModelError: There is no reply.
    """
    output = OutputSchema(name=schema.__name__[:64], json_schema=strict_schema(schema))
    completion = await model.complete(request.model_copy(update={"output": output}), purpose=purpose, owner=owner)
    reply = completion.reply
    if reply.finish == "refusal":
        raise MalformedReplyError(f"{request.model} refused to give a {schema.__name__}: {reply.message.text[:300]}")
    if reply.finish == "length":
        raise MalformedReplyError(f"{request.model} was cut off within a {schema.__name__}; allow more output tokens")
    text = reply.message.text
    fenced = _FENCE.fullmatch(text)
    try:
        return schema.model_validate_json(fenced[1] if fenced else text), completion
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc'])) or 'reply'}: {f['msg']}" for f in error.errors()[:5])
    raise MalformedReplyError(f"{request.model} gave no {schema.__name__}: {faults}")


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a record as strict modes take it.

    Every object is closed and requires all its fields, a reference has nothing beside it, choices are ``anyOf``, and
    there are no defaults.

    Args:
        schema: The record.

    Raises:
        ConfigurationError: It holds an object with free keys or a tuple of fixed length, which strict modes refuse.
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
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _strict({**known[name], **beside}, known, place, (*open_, name))
    if "oneOf" in node:
        node["anyOf"] = node.pop("oneOf")
    if "prefixItems" in node or (node.get("type") == "object" and "properties" not in node):
        kind = "a tuple of fixed length" if "prefixItems" in node else "an object with free keys"
        raise ConfigurationError(f"{place} is {kind}, which no strict mode takes; use a list of records")
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
