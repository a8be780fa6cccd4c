"""Documentation of a tool that contradicts itself."""

from collections.abc import Iterable, Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, ToolDetector
from agenthard.audit.detectors.support.tool_docs import (
    Parameter,
    enum_of,
    enum_pointer,
    examples,
    is_null,
    is_of_kind,
    is_spelled,
    means_no_value,
    mentioned_parameters,
    objects_of,
    parameters_of,
    told_values,
    tool_quote,
)
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import ToolSpec


class ToolDocContradiction(ToolDetector):
    """One part of a tool's documentation excludes what another part says.

    Rules, at every depth of the parameters; a parameter is reported once, by the first that holds:

    1. an allowed value (``enum``) does not have the documented type;
    2. the text tells the caller to give a word that type or enum exclude ("Use 'dontcare' to include all", integer);
    3. the default has another type or is none of the allowed values;
    4. an example, in the text or under ``example`` or ``examples``, is none of the allowed values, or cannot be of the
       documented type;

    and for the tool: a ``required`` name that is documented nowhere, and a text that names a parameter that does not
    exist.

    Flagged: ``interval`` allows day, week, month and its text says "e.g. 'daily'".
    Not flagged: a default of null, "" or "None", and "N/A", "all" or "dontcare" where texts are taken, which represent
    "nothing given" (where a number or a truth value is documented such a word is suspected, as the tool's code may know
    it); a required parameter with a default; a default written under the items of an array; "8" in quotation marks as
    an example of a number; another capitalisation. A default such as "false" for false is cosmetic. Where values are
    source text (Java, JavaScript), types are not compared.

    The rule is wrong where an evaluator takes the deviating value anyway: the documentation misleads all the same.
    """

    id = "tool-doc-contradiction"
    title = "tool documentation contradicts itself"
    version = "2"
    category = "misleading-tool-design"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "A model that follows one half of the documentation violates the other, and an exact comparison fails it."

    def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
        """Yield the contradictions in the documentation of ``tool``."""
        yield from _undocumented_required(tool)
        yield from _mentions(tool)
        typed = tool.language not in ("java", "javascript")
        for parameter in parameters_of(tool):
            contradictions = (
                *(_enum_against_type(tool, parameter) if typed else ()),
                *_told_value(tool, parameter, typed),
                *_default(tool, parameter, typed),
                *_example(tool, parameter, typed),
                *_listed_example(tool, parameter, typed),
            )
            yield from contradictions[:1]


def _undocumented_required(tool: ToolSpec) -> Iterator[Hit]:
    for pointer, schema in objects_of(tool):
        required, properties = schema.get("required"), schema.get("properties") or {}
        if not isinstance(required, list) or not isinstance(properties, dict):
            continue
        for name in required:
            if isinstance(name, str) and name not in properties:
                yield Hit(
                    claim=f"{tool.name} requires {name!r}, which its documentation does not describe",
                    evidence=(
                        tool_quote(tool, join(pointer, "required"), text=canonical_json(name), note="required"),
                        tool_quote(tool, "/name", note=f"documents {', '.join(map(repr, properties)) or 'nothing'}"),
                    ),
                    fix=f"Describe {name!r} under properties, or take it out of required.",
                )


def _mentions(tool: ToolSpec) -> Iterator[Hit]:
    names = ", ".join(repr(parameter.path) for parameter in parameters_of(tool)) or "none"
    for pointer, name, passage in mentioned_parameters(tool):
        yield Hit(
            claim=f"The documentation of {tool.name} mentions a parameter {name!r} that does not exist",
            evidence=(
                tool_quote(tool, pointer, text=passage, note="the text names it"),
                tool_quote(tool, "/name", note=f"its parameters: {names}"),
            ),
            fix=f"Use the name under which the parameter is documented instead of {name!r}.",
        )


def _types(schema: dict[str, Any]) -> frozenset[str]:
    types = schema.get("type")
    return frozenset(name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str))


def _enum_against_type(tool: ToolSpec, parameter: Parameter) -> Iterator[Hit]:
    allowed = enum_of(parameter.schema)
    if allowed is None or "type" not in parameter.schema:
        return
    wrap = "array" in _types(parameter.schema)
    values = [value for value in allowed if value is not None]
    wrong = [v for v in values if not is_of_kind([v] if wrap else v, parameter.schema, enum=False)]
    if not wrong:
        return
    kind = canonical_json(parameter.schema["type"])
    unlike = [value for value in wrong if not is_spelled(value, _types(parameter.schema))]
    yield Hit(
        claim=f"{tool.name} allows {canonical_json((unlike or wrong)[0])} for {parameter.path}, whose type is {kind}",
        evidence=(
            tool_quote(tool, enum_pointer(parameter), note="allowed values"),
            _type_quote(tool, parameter),
        ),
        fix="Give the allowed values the documented type, or change the type.",
        severity=None if unlike else Severity.COSMETIC,
    )


def _told_value(tool: ToolSpec, parameter: Parameter, typed: bool) -> Iterator[Hit]:
    for word, passage in told_values(parameter.text):
        if word.lower() in ("null", "none") or _fits(word, parameter, typed):
            continue
        yield Hit(
            claim=f"The text of {parameter.path} in {tool.name} tells to give {word!r}, which {_rule(parameter)}",
            evidence=(
                tool_quote(tool, join(parameter.pointer, "description"), text=passage, note="what the text tells"),
                _rule_quote(tool, parameter),
            ),
            fix=f"Allow {word!r}, or say that the argument is to be left out.",
        )


def _default(tool: ToolSpec, parameter: Parameter, typed: bool) -> Iterator[Hit]:
    default = parameter.schema.get("default")
    schema = parameter.schema if typed else {"enum": enum_of(parameter.schema)}
    a_word = means_no_value(default) and isinstance(default, str)
    if is_null(default) or (means_no_value(default) and not (a_word and typed and _numeric(parameter))):
        return
    if is_of_kind(default, schema):
        return
    spelled = is_spelled(default, _types(parameter.schema))
    of_type = not typed or is_of_kind(default, parameter.schema, enum=False)
    rule = _rule(parameter) if of_type else f"is not of type {canonical_json(parameter.schema['type'])}"
    yield Hit(
        claim=f"The default {canonical_json(default)} of {parameter.path} in {tool.name} {rule}",
        evidence=(
            tool_quote(tool, join(parameter.pointer, "default"), note="default"),
            _rule_quote(tool, parameter) if of_type else _type_quote(tool, parameter),
        ),
        fix="Write the default as the value that is really used when the argument is left out.",
        severity=Severity.COSMETIC if spelled else None,
        tier=Tier.SUSPECTED if a_word else None,
    )


def _numeric(parameter: Parameter) -> bool:
    """Tell whether nothing but numbers and truth values is documented, so that no word can represent anything."""
    types = _types(parameter.schema)
    return bool(types) and types <= {"integer", "number", "boolean"}


def _listed_example(tool: ToolSpec, parameter: Parameter, typed: bool) -> Iterator[Hit]:
    schema = parameter.schema if typed else {"enum": enum_of(parameter.schema)}
    for pointer, value in _values_of_examples(parameter):
        fits = any(is_of_kind(each, schema) for each in (value, [value]))
        if fits or means_no_value(value) or (isinstance(value, str) and _fits(value, parameter, typed)):
            continue
        yield Hit(
            claim=f"The example {canonical_json(value)} of {parameter.path} in {tool.name} {_rule(parameter)}",
            evidence=(tool_quote(tool, pointer, note="example"), _rule_quote(tool, parameter)),
            fix="Give an example that the documentation allows, or allow it.",
        )


def _values_of_examples(parameter: Parameter) -> Iterator[tuple[str, Any]]:
    """Yield the values under ``example`` and ``examples`` with their pointers; named examples of OpenAPI are left."""
    if "example" in parameter.schema:
        yield join(parameter.pointer, "example"), parameter.schema["example"]
    listed = parameter.schema.get("examples")
    for index, value in enumerate(listed if isinstance(listed, list) else ()):
        yield join(parameter.pointer, "examples", index), value


def _example(tool: ToolSpec, parameter: Parameter, typed: bool) -> Iterator[Hit]:
    for value, passage in examples(parameter.text):
        if means_no_value(value) or _fits(value, parameter, typed):
            continue
        yield Hit(
            claim=f"The text of {parameter.path} in {tool.name} gives the example {value!r}, which {_rule(parameter)}",
            evidence=(
                tool_quote(tool, join(parameter.pointer, "description"), text=passage, note="example"),
                _rule_quote(tool, parameter),
            ),
            fix="Give an example that the documentation allows, or allow it.",
        )


def _fits(word: str, parameter: Parameter, typed: bool) -> bool:
    """Tell whether a word of the prose can be a value; a number or truth value may be in quotation marks there."""
    allowed = enum_of(parameter.schema)
    if allowed is not None:
        return word.strip().lower() in {str(value).strip().lower() for value in allowed}
    types = _types(parameter.schema)
    if not typed or not _numeric(parameter):
        return True
    return is_spelled(word, types) or (bool(types & {"integer", "number"}) and word.strip()[:1].isdigit())


def _rule(parameter: Parameter) -> str:
    allowed = enum_of(parameter.schema)
    if allowed is not None:
        return "is none of the allowed values"
    return f"is not of type {canonical_json(parameter.schema.get('type'))}"


def _rule_quote(tool: ToolSpec, parameter: Parameter) -> Evidence:
    if enum_of(parameter.schema) is not None:
        return tool_quote(tool, enum_pointer(parameter), note="allowed values")
    return _type_quote(tool, parameter)


def _type_quote(tool: ToolSpec, parameter: Parameter) -> Evidence:
    return tool_quote(tool, join(parameter.pointer, "type"), note="documented type")
