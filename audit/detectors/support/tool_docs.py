"""What the documentation of a tool says: its parameters at every depth, and the prose about their values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from agenthard.audit.detectors.support.sharing import IdentityCache
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
    """Names from the outermost parameter down, joined by dots; ``[]`` for the items of an array."""
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

    An enum of scalars on an array type is meant for the items. Other keywords are skipped: a hostile pattern
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


_QUOTED = r"(?:'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|‘[^’\n]{1,80}’|«[^»\n]{1,80}»|`[^`\n]{1,80}`)"
_EXAMPLES = re.compile(
    r"\b(?:such as|e\.g\.|eg\.|ex\.|for example|for instance|(?:examples?|sample)(?: values?)?(?: is| are| include)?"
    r"(?=:| ['\"“‘`«]))[:,]?\s*"
    rf"({_QUOTED}(?:(?:,|,? or|,? and| \||/|;)\s*{_QUOTED})*)",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"\bexamples?(?: values?)?:[ \t]*\n(?P<items>(?:[ \t]*[-*+•][ \t]*{_QUOTED}[ \t.,;]*(?:\n|\Z))+)", re.IGNORECASE
)
_TOLD = re.compile(
    r"\b(?:use|select|choose|enter|give|pass|provide|specify|set (?:it )?to|or|and)\s+"
    r"(?:['\"`](?P<quoted>[\w -]{1,30})['\"`]|(?P<bare>dontcare))\s+"
    r"(?:to|if|for|when|denotes|indicates|means)\b",
    re.IGNORECASE,
)
_INNER = re.compile(_QUOTED)

_NULL = frozenset(("", "none", "null", "nil", "undefined"))
_NO_VALUE = frozenset("n/a na any all dontcare auto default unspecified optional unknown unlimited".split()) | _NULL
_NO_VALUE_PHRASE = re.compile(
    r"not (?:specified|provided|applicable|set)|no (?:preference|limit|filter)|(?:all|any) .*", re.DOTALL
)


def examples(text: str) -> list[tuple[str, str]]:
    """List quoted example values with the passage that calls them examples.

    Only values in quotation marks right after "such as", "e.g." or "for example", or listed line by line under
    "Examples:", count; nothing else is unmistakable.

    >>> examples("The interval, e.g. 'daily' or 'monthly'.")
    [('daily', "e.g. 'daily' or 'monthly'"), ('monthly', "e.g. 'daily' or 'monthly'")]
    """
    found = []
    for pattern in (_EXAMPLES, _LISTED):
        for match in pattern.finditer(text):
            found += [(quoted[1:-1], match[0]) for quoted in _INNER.findall(match[1])]
    return found


def told_values(text: str) -> list[tuple[str, str]]:
    """List words that the text tells the caller to give in some case, with the passage that does.

    >>> told_values("Minimum rating. Use 'dontcare' to include all.")
    [('dontcare', "Use 'dontcare' to")]
    """
    return [(match["quoted"] or match["bare"], match[0]) for match in _TOLD.finditer(text)]


def means_no_value(value: object) -> bool:
    """Tell whether a default or an example means "nothing given" rather than a value.

    Benchmarks write null, an empty text, "None", "N/A", "dontcare", "all" or "any ..." for what happens when the
    argument is left out, and a list of such; none of these is meant to be passed as it is.
    """
    if value is None or (isinstance(value, list) and all(means_no_value(item) for item in value)):
        return True
    word = str(value).strip().lower().replace("don't care", "dontcare").replace("_", " ")
    return word in _NO_VALUE or not word or _NO_VALUE_PHRASE.fullmatch(word) is not None


def is_null(value: object) -> bool:
    """Tell whether a value is null, or a text that is written where null is meant; a list of such is one as well.

    Unlike "all" or "auto", such a text cannot be taken for a value that has to be passed.
    """
    if isinstance(value, list):
        return all(is_null(item) for item in value)
    return value is None or str(value).strip().lower() in _NULL


def is_spelled(value: object, types: frozenset[str]) -> bool:
    """Tell whether a text spells a number or a truth value of the documented type: "3" for 3, "false" for false."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return (
        ("boolean" in types and text.lower() in ("true", "false"))
        or ("integer" in types and re.fullmatch(r"[+-]?\d+", text) is not None)
        or ("number" in types and re.fullmatch(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?", text, re.IGNORECASE) is not None)
    )


_NAME = r"[A-Za-z_][\w.]*"
_IN_PROSE = re.compile(
    rf"\b(?:parameter|argument)s?\s+[`'\"](?P<after>{_NAME})[`'\"]"
    rf"|[`'\"](?P<before>{_NAME})[`'\"]\s+(?:parameter|argument)\b"
    rf"|(?:@|:)param\s+(?:\w+\s+)?(?P<tag>{_NAME}):?"
)
_SECTION = re.compile(
    r"^[ \t]*(?:Args|Arguments|Parameters):[ \t]*\n(?P<lines>(?:[ \t]+\S.*(?:\n|\Z)|[ \t]*\n)+)", re.MULTILINE
)
_ENTRY = re.compile(rf"^(?P<indent>[ \t]+)(?P<name>{_NAME})[ \t]*(?:\([^()\n]*\))?:", re.MULTILINE)


def mentioned_parameters(tool: ToolSpec) -> Iterator[tuple[str, str, str]]:
    """Yield each parameter that the texts of ``tool`` name and that it does not have.

    A name counts when the text calls it a parameter or an argument, marks it with ``@param`` or ``:param``, or lists
    it under "Args:". Names of the tool itself, of its parameters at any depth and of its response are known.

    Yields:
        JSON Pointer of the text relative to the ToolSpec, the name, and the passage that names it.
    """
    parameters = parameters_of(tool)
    known = {parameter.name for parameter in parameters} | {parameter.path for parameter in parameters} | {tool.name}
    known |= set((tool.returns or {}).get("properties") or {})
    texts = [("/description", tool.description)]
    texts += [(join(parameter.pointer, "description"), parameter.text) for parameter in parameters]
    for pointer, text in texts:
        for name, passage in _named(text):
            if name not in known:
                known.add(name)
                yield pointer, name, passage


def _named(text: str) -> Iterator[tuple[str, str]]:
    for match in _IN_PROSE.finditer(text):
        yield match["after"] or match["before"] or match["tag"].rstrip("."), match[0]
    for section in _SECTION.finditer(text):
        entries = list(_ENTRY.finditer(section["lines"]))
        outer = min((len(entry["indent"]) for entry in entries), default=0)
        for entry in entries:
            if len(entry["indent"]) == outer:
                yield entry["name"], entry[0].strip()
