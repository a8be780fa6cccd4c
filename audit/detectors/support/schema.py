"""JSON Schema of tools: a validator for untrusted schemas, and violations by values with accepted alternatives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import regex
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import UndefinedTypeCheck, UnknownType, ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from agenthard.taxonomy.accepted import alternatives, concrete_values, is_any_of, is_optional
from agenthard.taxonomy.pointer import join

PATTERN_SECONDS = 1.0
"""A pattern that takes longer on one text is given up."""


def safe_validator(schema: dict[str, Any]) -> Any:
    """Make a draft 2020-12 validator, as jsonschema's Validator protocol has it.

    A remote reference is unresolvable, and a slow pattern raises ValueError.

    Names matched by ``patternProperties`` are not told apart from others, so ``additionalProperties`` is not enforced
    next to it.
    """
    return _Safe(schema, registry=_REGISTRY, format_checker=_FORMATS)


_REGISTRY: Registry[Any] = Registry()
_FORMATS = FormatChecker()


def _matches(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError as error:
        raise ValueError(f"the pattern {pattern!r} takes too long") from error


def _pattern(validator: Validator, pattern: str, instance: Any, schema: dict[str, Any]) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Validator, patterns: dict[str, Any], instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    for pattern, subschema in patterns.items() if isinstance(instance, dict) else ():
        for name, value in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)  # type: ignore[attr-defined]


def _additional_properties(
    validator: Validator, allowed: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if "patternProperties" not in schema:
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, allowed, instance, schema)


_Safe: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    },
)


Tolerates = Callable[[Any, dict[str, Any]], bool]
"""Tells whether a value that breaks a schema is a convention of the benchmark and therefore no flaw."""

_CHILDREN = ("properties", "required", "additionalProperties", "items")
_COMPOSED = ("$ref", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties", "prefixItems", "dependentSchemas")


@dataclass(frozen=True)
class Violation:
    """One place where no accepted value fits the schema."""

    keyword: str
    """Keyword of JSON Schema that is broken; ``additionalProperties`` for a name that the schema does not list, and
    ``accepted values`` where an argument must be given but no value is accepted."""
    value_at: str
    """JSON Pointer of the value, relative to the arguments; of the enclosing object when a member is missing."""
    rule_at: str
    """JSON Pointer of the broken rule, relative to the tool's parameters."""
    value: Any
    """The value there (the first accepted one)."""
    expected: Any
    """What the schema says there."""
    name: str = ""
    """The member that is missing or unknown."""
    omissible: bool = False
    """True when a run may leave the argument out and still be right."""


def violations(arguments: dict[str, Any], schema: dict[str, Any], tolerates: Tolerates) -> list[Violation]:
    """List the places of a gold call's arguments where no accepted value fits the tool's schema.

    An any-of node fits when one of its values does. A member that an object schema does not list is a violation
    unless the schema allows further members explicitly: tools document what they take. A required name that the
    schema never describes is a flaw of the documentation and is skipped. Of several items of an array that break
    the same rule, the first is listed.

    Args:
        arguments: arguments by name, any-of nodes at any depth.
        schema: JSON Schema of the arguments object.
        tolerates: the benchmark's conventions, asked about each value that breaks its schema.

    Raises:
        ValueError: when the schema itself is broken and nothing can be said.
    """
    try:
        found = list(_Fit(schema, tolerates).check(arguments, schema, "", ""))
    except (
        UnknownType,
        UndefinedTypeCheck,
        Unresolvable,
        RecursionError,
        TypeError,
        AttributeError,
        regex.error,
    ) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"the tool's schema cannot be used: {reason[0]}") from error
    first: dict[tuple[str, str, str], Violation] = {}
    for violation in found:
        first.setdefault((violation.keyword, violation.rule_at, violation.name), violation)
    return list(first.values())


class _Fit:
    def __init__(self, root: dict[str, Any], tolerates: Tolerates) -> None:
        self._root = root
        self._tolerates = tolerates

    @cached_property
    def _validator(self) -> Any:
        return safe_validator(self._root)

    def check(self, value: Any, schema: Any, value_at: str, rule_at: str) -> Iterator[Violation]:
        """Yield the violations of one value, or of none when one of the accepted values fits."""
        if not isinstance(schema, dict) or not schema:
            return
        if not is_any_of(value):
            found = list(self._one(value, schema, value_at, rule_at))
            if found and not self._tolerates(value, schema):
                yield from found
            return
        tried = [list(self.check(choice, schema, value_at + at, rule_at)) for at, choice in alternatives(value)]
        if not tried and not is_optional(value):
            yield Violation("accepted values", value_at, rule_at, value, schema)
        elif tried and all(tried):
            for violation in tried[0]:
                yield replace(violation, omissible=violation.omissible or is_optional(value))

    def _one(self, value: Any, schema: dict[str, Any], value_at: str, rule_at: str) -> Iterator[Violation]:
        if not isinstance(value, (dict, list)) and _only_wants_type(value, schema):
            return
        composed = any(keyword in schema for keyword in _COMPOSED)
        error = self._error(value, schema if composed else _own_keywords(schema))
        if error is not None:
            keyword = str(error.validator)
            rule_at = rule_at if composed else join(rule_at, keyword)
            place = value_at + join("", *error.absolute_path)
            yield Violation(keyword, place, rule_at, error.instance, error.validator_value)
        elif isinstance(value, dict) and not composed:
            yield from self._members(value, schema, value_at, rule_at)
        elif isinstance(value, list) and not composed:
            items, at = _items(schema)
            for i, item in enumerate(value):
                yield from self.check(item, items, join(value_at, i), rule_at + at)

    def _error(self, value: Any, schema: dict[str, Any]) -> ValidationError | None:
        if not schema or _only_wants_type(value, schema):
            return None
        validator = self._validator.evolve(schema=schema)
        first: ValidationError | None = None
        for concrete in concrete_values(value):
            error = best_match(validator.iter_errors(concrete))
            if error is None:
                return None
            first = first or error
        return first

    def _members(
        self, value: dict[str, Any], schema: dict[str, Any], value_at: str, rule_at: str
    ) -> Iterator[Violation]:
        known = schema.get("properties") or {}
        other = schema.get("additionalProperties")
        for name, member in value.items():
            at = join(value_at, name)
            if name in known:
                yield from self.check(member, known[name], at, join(rule_at, "properties", name))
            elif isinstance(other, dict) and other:
                yield from self.check(member, other, at, join(rule_at, "additionalProperties"))
            elif other is False or (known and other is None):
                rule = join(rule_at, "properties") if known else rule_at
                yield Violation("additionalProperties", at, rule, member, sorted(known), name, is_optional(member))
        for name in schema.get("required") or ():
            if name in known and name not in value:
                rule = join(rule_at, "required")
                yield Violation("required", value_at, rule, value, schema["required"], name)


_ANY_TYPE = safe_validator({})
_WITHOUT_RULE = {"type", "description", "title", "default", "examples"}


def _only_wants_type(value: Any, schema: dict[str, Any]) -> bool:
    """Tell whether a value has the type that its schema names, and the schema says nothing else about it."""
    kind = schema.get("type")
    return isinstance(kind, str) and schema.keys() <= _WITHOUT_RULE and bool(_ANY_TYPE.is_type(value, kind))


def _own_keywords(schema: dict[str, Any]) -> dict[str, Any]:
    children = (*_CHILDREN, "enum") if _enum_of_items(schema) else _CHILDREN
    return {key: value for key, value in schema.items() if key not in children}


def _items(schema: dict[str, Any]) -> tuple[Any, str]:
    if _enum_of_items(schema):
        return {"enum": schema["enum"]}, ""
    return schema.get("items"), "/items"


def _enum_of_items(schema: dict[str, Any]) -> bool:
    """An enum of scalars on an array type can only be meant for the items."""
    enum = schema.get("enum")
    return schema.get("type") == "array" and isinstance(enum, list) and not any(isinstance(v, list) for v in enum)
