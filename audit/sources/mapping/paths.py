"""Paths into a row: JMESPath expressions, or JSON Pointers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.pointer import join, resolve, split

_COMBINATIONS = ("key_val_pair", "multi_select_list", "multi_select_dict", "function_expression", "or_expression")


class PathSyntaxError(AgentHardError, ValueError):
    """A text is no path."""

    code = "AH106"
    remedy = "Correct the path in the mapping; docs/sources/mapping.md describes the syntax."


@dataclass(frozen=True)
class Expression:
    """A compiled path."""

    text: str
    """As written."""
    chains: tuple[tuple[str | int, ...], ...]
    """The plain steps with which it begins, one chain per field that a combination of fields begins with."""
    compiled: Any = None
    """The JMESPath expression; None for a JSON Pointer."""

    def find(self, row: Mapping[str, Any]) -> Any:
        """Return the value, or None when the path leads nowhere.

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
        """JSON Pointer of the value, or as far as plain steps lead to it."""
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
        raise PathSyntaxError(f"{text!r} is no JMESPath expression: {str(error).splitlines()[0]}{hint}") from error
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
