"""A JSON Schema validator for schemas nobody vouches for: no network, and no pattern that runs forever.

``jsonschema`` follows remote references and matches patterns with ``re``, which a hostile pattern keeps busy for ever.
"""

from collections.abc import Iterator
from typing import Any

import regex
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

PATTERN_SECONDS = 1.0
"""A pattern that takes longer on one text is given up."""


def safe_validator(schema: dict[str, Any]) -> Any:
    """Make a draft 2020-12 validator, as jsonschema's Validator protocol has it.

    A remote reference is unresolvable, and a slow pattern raises ValueError.

    Names matched by ``patternProperties`` are not told apart from others, so ``additionalProperties`` is not enforced
    beside it.
    """
    return _Safe(schema, registry=Registry(), format_checker=FormatChecker())


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
