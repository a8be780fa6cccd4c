"""Paths into a row (JMESPath expressions or JSON Pointers), and structures that cells hold as text."""

import ast
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import join, resolve, split

_COMBINATIONS = ("key_val_pair", "multi_select_list", "multi_select_dict", "function_expression", "or_expression")


class PathSyntaxError(AgentHardError, ValueError):
    """A text is not a path."""

    code = "AH106"
    remedy = "Correct the path in the mapping; docs/sources/mapping.md describes the syntax."


@dataclass(frozen=True)
class Expression:
    """A compiled path."""

    text: str
    """The path as written."""
    chains: tuple[tuple[str | int, ...], ...]
    """The plain steps with which it begins, one chain per field that a combination of fields begins with."""
    compiled: Any = None
    """The JMESPath expression; None for a JSON Pointer."""

    def find(self, row: Mapping[str, Any]) -> Any:
        """Return the value, or None when the path is absent.

        Raises:
            PathSyntaxError: when a function of the expression does not take such values.
        """
        try:
            return resolve(row, self.text) if self.compiled is None else self.compiled.search(row)
        except LookupError:
            return None
        except (JMESPathError, TypeError, AttributeError) as error:
            raise PathSyntaxError(f"the path {self.text!r} does not fit the row: {error}") from error

    @property
    def pointer(self) -> str:
        """JSON Pointer of the value, or of the deepest part that plain steps reach."""
        return join("", *self.chains[0]) if len(self.chains) == 1 else ""

    def absent(self, row: Mapping[str, Any]) -> tuple[str, list[str]] | None:
        """Return the first step that the row does not have, with the names it has there; None when it has one chain.

        A null or an empty list on the way counts as there.
        """
        missing = None
        for chain in self.chains:
            missing = _missing(row, chain)
            if missing is None:
                return None
        return missing


def _missing(value: Any, chain: tuple[str | int, ...]) -> tuple[str, list[str]] | None:
    for step in chain:
        if isinstance(value, Mapping):
            if str(step) not in value:
                return str(step), [str(key) for key in value]
            value = value[str(step)]
        elif value is None:
            return None
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if -len(value) <= step < len(value) else None
        else:
            return str(step), []
    return None


@cache
def compile_path(text: str) -> Expression:
    """Compile a path.

    Raises:
        PathSyntaxError: when it is neither a JSON Pointer nor a JMESPath expression.

    >>> compile_path("user.name").find({"user": {"name": "Ada"}})
    'Ada'
    >>> compile_path("/Final answer").find({"Final answer": "7"})
    '7'
    >>> compile_path("a[0].b").pointer
    '/a/0/b'
    """
    if text.startswith("/"):
        return Expression(text, (tuple(int(part) if part.isdigit() else part for part in split(text)),))
    try:
        compiled = jmespath.compile(text)
    except (JMESPathError, ValueError) as error:
        hint = f"; a column with blanks or signs in its name is written '/{text}'" if "." not in text else ""
        raise PathSyntaxError(f"{text!r} is not a JMESPath expression: {str(error).splitlines()[0]}{hint}") from error
    return Expression(text, tuple(_chains(compiled.parsed)), compiled)


def _chains(node: Mapping[str, Any]) -> list[tuple[str | int, ...]]:
    """List the chains of plain steps with which an expression begins."""
    kind, children = node["type"], node["children"]
    if kind == "field":
        return [(node["value"],)]
    if kind in ("subexpression", "index_expression"):
        steps: tuple[str | int, ...] = ()
        for child in children:
            if child["type"] == "index":
                steps += (child["value"],)
                continue
            inner = _chains(child)
            if len(inner) != 1 or child["type"] not in ("field", "subexpression", "index_expression"):
                return [steps + chain for chain in inner] or [steps]
            steps += inner[0]
        return [steps]
    if kind in ("projection", "value_projection", "filter_projection", "flatten", "pipe"):
        return _chains(children[0])
    if kind in _COMBINATIONS:
        return [chain for child in children for chain in _chains(child)]
    return [()] if kind in ("identity", "current") else []


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
