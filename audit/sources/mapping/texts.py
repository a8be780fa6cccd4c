"""Structures written as text: JSON, or a Python literal, in a cell."""

import ast
import json
import warnings
from typing import Any

from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow

MAX_LITERAL_CHARS = 1_000_000
"""A longer Python literal is not parsed."""


def structured(value: Any) -> Any:
    """Parse a text that holds a JSON list or object, or a Python literal of one; anything else is returned as it is.

    So is what is nested too deep.

    >>> structured('[{"name": "f"}]'), structured("{'a': None}"), structured("[sic] a text")
    ([{'name': 'f'}], {'a': None}, '[sic] a text')
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = _literal(value)
    try:
        if not isinstance(parsed, str):
            require_shallow(parsed)
    except MalformedRecordError:
        return value
    return parsed


def _literal(text: str) -> Any:
    if len(text) > MAX_LITERAL_CHARS:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text.strip())
        return json.loads(json.dumps(value))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return text


def text_list(value: Any) -> list[str]:
    """Return the texts of a value: one text, number or truth value, or a list of them; empty ones are left out.

    >>> text_list(["a", 7, None, ""]), text_list(True), text_list('["x"]')
    (['a', '7'], ['true'], ['x'])
    """
    value = structured(value)
    items = value if isinstance(value, list) else [value]
    return [text for item in items if item is not None and (text := as_text(item)).strip()]


def as_text(value: Any) -> str:
    """Write a value as a text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
