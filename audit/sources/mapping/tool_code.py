"""Tools documented by the code of a benchmark: Python functions, read without running them, and OpenAPI documents."""

import ast
import inspect
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field, PydanticUserError, create_model

from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.formats.python_types import TypeReader
from agenthard.taxonomy.pointer import join, resolve
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import ToolSpec

_DEFINITION = re.compile(r"^\s*(?:async\s+)?def\s+\w+\s*\(", re.MULTILINE)
_SECTION = re.compile(
    r"^\s*(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Notes?)\s*:?\s*$|^\s*:", re.M
)
_ARGUMENT = (
    r"^\s*(?:{name}\s+:\s*[^\n]*\n\s+|:param(?:\s+[\w\[\], ]+?)?\s+{name}\s*:\s*|{name}\s*(?:\([^)\n]*\))?\s*:\s*)"
    r"(?P<text>[^\n]*)"
)
_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_OWN = ("self", "cls", "ctx", "context", "db", "data", "state", "env", "session")
"""First parameters that the benchmark fills in itself."""


def is_python(value: Any) -> bool:
    """Tell whether a value is Python source with a function."""
    return isinstance(value, str) and bool(_DEFINITION.search(value))


def is_openapi(value: Any) -> bool:
    """Tell whether a value is an OpenAPI or Swagger document."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("paths"), Mapping)
        and bool({"openapi", "swagger"} & set(value))
    )


def python_tools(source: str, origin: Origin) -> tuple[ToolSpec, ...]:
    """Read the public functions of Python source as tools: their names, annotations, defaults and docstrings.

    A decorator's first text (``@tool("email.send")``) is the name. Methods of a class are tools too.

    Args:
        source: the source; it is parsed, never run.
        origin: where it is.

    Raises:
        MalformedRecordError: when it cannot be parsed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise MalformedRecordError(f"the tools are not valid Python: {error}", origin.pointer) from error
    types = TypeReader([module])
    tools = (_function(node, types, origin) for node in _functions(module))
    return tuple({tool.name: tool for tool in tools}.values())


def _functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in module.body:
        inner = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else [node]
        for item in inner:
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and not item.name.startswith("_"):
                yield item


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, types: TypeReader, origin: Origin) -> ToolSpec:
    doc = inspect.cleandoc(ast.get_docstring(node) or "")
    positional = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    pairs = [*zip(positional, [*defaults, *node.args.defaults], strict=True)]
    if pairs and pairs[0][0].arg in _OWN and (pairs[0][0].annotation is None or pairs[0][0].arg in _OWN[:2]):
        pairs = pairs[1:]
    pairs += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    fields: dict[str, Any] = {}
    for argument, default in pairs:
        told = _told(doc, argument.arg)
        value = ... if default is None else types.default(default)
        # The name of a field may not shadow a member of pydantic's class; the alias is what the schema shows.
        fields[f"p_{argument.arg}"] = (
            types.resolve(argument.annotation),
            Field(value, description=told, alias=argument.arg),
        )
    section = _SECTION.search(doc)
    return ToolSpec(
        name=_decorated(node) or node.name,
        description=(doc[: section.start()] if section else doc).strip(),
        parameters=_schema(node.name, fields, origin),
        origin=origin.model_copy(update={"line": node.lineno}) if origin.file.endswith(".py") else origin,
    )


def _told(doc: str, name: str) -> str | None:
    found = re.search(_ARGUMENT.format(name=re.escape(name)), doc, re.MULTILINE)
    return found["text"].strip() or None if found else None


def _schema(name: str, fields: dict[str, Any], origin: Origin) -> dict[str, Any]:
    try:
        model: Any = create_model(name, **fields)
        schema: dict[str, Any] = model.model_json_schema()
    except (PydanticUserError, TypeError, ValueError, RecursionError) as error:
        raise MalformedRecordError(f"the parameters of {name!r} cannot be read: {error}", origin.pointer) from error
    schema.pop("title", None)
    for each in schema.setdefault("properties", {}).values():
        each.pop("title", None)
    return schema


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    calls = (item for item in node.decorator_list if isinstance(item, ast.Call))
    named = ([*call.args[:1], *(word.value for word in call.keywords if word.arg == "name")] for call in calls)
    texts = (item.value for items in named for item in items if isinstance(item, ast.Constant))
    return next((text for text in texts if isinstance(text, str)), None)


def openapi_tools(document: Mapping[str, Any], origin: Origin) -> tuple[ToolSpec, ...]:
    """Read the operations of an OpenAPI document as tools: parameters and the members of a JSON body are arguments.

    A tool is named as its ``operationId``; without one, as method and path (``get_books_id``).

    Args:
        document: the parsed document.
        origin: where it is.
    """
    found = []
    for path, item in document["paths"].items():
        for method, operation in item.items() if isinstance(item, Mapping) else ():
            if method in _METHODS and isinstance(operation, Mapping):
                place = origin.model_copy(update={"pointer": join(origin.pointer, "paths", path, method)})
                shared = item.get("parameters") or []
                found.append(
                    _operation(
                        document, path, method, operation, [*shared, *(operation.get("parameters") or [])], place
                    )
                )
    return tuple(found)


def _operation(
    document: Mapping[str, Any],
    path: str,
    method: str,
    operation: Mapping[str, Any],
    given: Sequence[Any],
    origin: Origin,
) -> ToolSpec:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for written in given:
        parameter = _resolved(document, written)
        if isinstance(parameter.get("name"), str) and parameter.get("in") in ("path", "query", "body", "formData"):
            schema = _resolved(document, parameter.get("schema") or {"type": parameter.get("type", "string")})
            if parameter["in"] == "body":
                _take_members(document, schema, properties, required)
                continue
            described = {"description": parameter["description"]} if parameter.get("description") else {}
            properties[parameter["name"]] = {**schema, **described}
            required += [parameter["name"]] if parameter.get("required") else []
    content = _resolved(document, operation.get("requestBody") or {}).get("content")
    for media in content.values() if isinstance(content, Mapping) else ():
        _take_members(document, _resolved(document, (media or {}).get("schema") or {}), properties, required)
        break
    name = operation.get("operationId") or "_".join([method, *re.findall(r"\w+", path)])
    return ToolSpec(
        name=str(name),
        description=str(operation.get("description") or operation.get("summary") or ""),
        parameters={"type": "object", "properties": properties, "required": required},
        effect="read" if method in ("get", "head") else "unknown",
        origin=origin,
    )


def _take_members(
    document: Mapping[str, Any], schema: Mapping[str, Any], properties: dict[str, Any], required: list[str]
) -> None:
    for name, member in (schema.get("properties") or {}).items():
        properties[name] = _resolved(document, member)
    required += [name for name in schema.get("required") or () if name not in required]


def _resolved(document: Mapping[str, Any], value: Any, depth: int = 0) -> dict[str, Any]:
    """Follow a reference inside the document."""
    if not isinstance(value, Mapping):
        return {}
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and depth < 20:
        try:
            return _resolved(document, resolve(document, reference[1:]), depth + 1)
        except LookupError:
            return {}
    return dict(value)
