"""The documented parameters of a tool at every depth, and whether a value is of the documented kind."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, resolve
from agenthard.taxonomy.task import EnvironmentSpec, ToolSpec

_TYPES = frozenset({"object", "array", "number", "integer", "string", "boolean", "null"})
_MAX_DEPTH = 32


@dataclass(frozen=True)
class Parameter:
    """One parameter, or one member of an object parameter."""

    name: str
    """Its own name."""
    path: str
    """Names from the outermost parameter down, joined by dots; ``[]`` stands for the items of an array."""
    pointer: str
    """JSON Pointer of its schema, relative to the ToolSpec."""
    schema: dict[str, Any]
    """Its schema."""

    @property
    def text(self) -> str:
        """Its documentation text."""
        description = self.schema.get("description")
        return description if isinstance(description, str) else ""


def parameters_of(tool: ToolSpec) -> list[Parameter]:
    """List the parameters of ``tool`` with the members of object parameters and of arrays of objects."""
    return list(_members(tool.parameters, "/parameters", "", 0))


def _members(schema: dict[str, Any], pointer: str, path: str, depth: int) -> Iterator[Parameter]:
    properties = schema.get("properties")
    if depth < _MAX_DEPTH and isinstance(properties, dict):
        for name, child in properties.items():
            if isinstance(child, dict):
                parameter = Parameter(name, path + name, join(pointer, "properties", name), child)
                yield parameter
                yield from _members(child, parameter.pointer, f"{parameter.path}.", depth + 1)
    items = schema.get("items")
    if depth < _MAX_DEPTH and isinstance(items, dict):
        yield from _members(items, join(pointer, "items"), f"{path.removesuffix('.')}[].", depth + 1)


def objects_of(tool: ToolSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schema of the arguments, then those of object parameters, with JSON Pointers into the ToolSpec."""
    yield "/parameters", tool.parameters
    for parameter in parameters_of(tool):
        if isinstance(parameter.schema.get("properties"), dict):
            yield parameter.pointer, parameter.schema


def is_of_kind(value: Any, schema: dict[str, Any], *, enum: bool = True) -> bool:
    """Tell whether ``value`` has the type and, unless ``enum`` is false, one of the allowed values of ``schema``.

    An enum of scalars beside the type array is meant for the items. Other keywords are passed over: a hostile pattern
    can take forever, and a reference can point outside.
    """
    return Draft202012Validator(_plain(schema, enum)).is_valid(value)


def _plain(schema: Any, enum: bool, depth: int = 0) -> dict[str, Any]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return {}
    plain: dict[str, Any] = {}
    types = schema.get("type")
    types = types if isinstance(types, list) else [types]
    if types and all(isinstance(name, str) and name in _TYPES for name in types):
        plain["type"] = types
    if isinstance(schema.get("items"), dict):
        plain["items"] = _plain(schema["items"], enum, depth + 1)
    allowed = enum_of(schema)
    if enum and allowed is not None:
        if "array" in types:
            plain["items"] = {**plain.get("items", {}), "enum": allowed}
        else:
            plain["enum"] = allowed
    return plain


def enum_of(schema: dict[str, Any]) -> list[Any] | None:
    """Return the allowed values of a parameter, or of its items when it is an array; None when any value is."""
    enum = schema.get("enum")
    items = schema.get("items")
    if enum is None and schema.get("type") == "array" and isinstance(items, dict):
        enum = items.get("enum")
    return enum if isinstance(enum, list) and enum else None


def enum_pointer(parameter: Parameter) -> str:
    """Point at the allowed values that :func:`enum_of` returns."""
    return join(parameter.pointer, *(["enum"] if "enum" in parameter.schema else ["items", "enum"]))


def _words_of(environment: EnvironmentSpec) -> frozenset[str]:
    """Collect the names of parameters and of what tools return, and the allowed values of an environment's tools."""
    words: set[str] = set()
    for tool in (*environment.tools, *environment.user_tools):
        words |= set((tool.returns or {}).get("properties") or {})
        for parameter in parameters_of(tool):
            words |= {parameter.name, *map(str, enum_of(parameter.schema) or ())}
    return frozenset(words)


documented_words = IdentityCache(_words_of)


def tool_quote(tool: ToolSpec, pointer: str, *, text: str | None = None, note: str = "") -> Evidence:
    """Make evidence about a tool: the whole text at ``pointer``, or the part ``text`` of it."""
    if text is None:
        value = resolve(tool, pointer)
        text = value if isinstance(value, str) else canonical_json(value)
    return Evidence(task_id="", pointer=pointer, quote=text, note=note)
