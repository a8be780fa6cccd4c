"""What an agent wrote as arguments, made into values, or refused with the wording of the released code."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from agenthard.ace.domain import Domain, Number
from agenthard.ace.environment.tools import LIST_OPERATORS, MAX_FIELDS, MAX_IDS, NUMERIC_OPERATORS
from agenthard.ace.instance import Cell

Arguments = Mapping[str, Any]
_NOT_TEXTS = "value must be a string list for `in` or `not_in` queries"


class Refused(Exception):
    """A call that a tool does not carry out; the message tells the agent why."""


def as_cell(arguments: Arguments) -> Cell:
    """Reads row and column, from whole numbers or anything that `int` makes one of.

    Args:
        arguments: The arguments of a call.

    Returns:
        The cell; it may lie outside the grid.

    Raises:
        Refused: One of the two is no number.
    """
    try:
        return int(arguments["row"]), int(arguments["col"])
    except (TypeError, ValueError, OverflowError):
        raise Refused("row and col must be integers") from None


class Fields:
    """The attributes that a domain's items have, as an agent may name them."""

    def __init__(self, domain: Domain) -> None:
        self._is_number = {"name": False} | {a.name: isinstance(a, Number) for a in domain.attributes}
        self._allowed = ", ".join(sorted(self._is_number))

    def condition(self, arguments: Arguments) -> tuple[str, str, Any]:
        """Reads the condition of a query.

        Args:
            arguments: The arguments of a call.

        Returns:
            Attribute, operator, and what to compare with: a number, or for text a list of values.

        Raises:
            Refused: The condition makes no sense.
        """
        field, operator = arguments["field"], arguments["operator"]
        if not isinstance(field, str) or not field:
            raise Refused("field must be a non-empty string")
        if field not in self._is_number:
            raise Refused(f"unknown field: {field}. allowed fields: {self._allowed}")
        if operator not in NUMERIC_OPERATORS and operator not in LIST_OPERATORS:
            raise Refused(f"operator must be one of: {', '.join(NUMERIC_OPERATORS + LIST_OPERATORS)}")
        by_list = operator in LIST_OPERATORS
        value = _texts(arguments["value"]) if by_list else _number(arguments["value"])
        if self._is_number[field] and by_list:
            raise Refused(f"numeric fields only support: {', '.join(NUMERIC_OPERATORS)}")
        if not self._is_number[field] and not by_list:
            raise Refused(f"categorical fields only support: {', '.join(LIST_OPERATORS)}")
        if isinstance(value, str) or (isinstance(value, float) and not isfinite(value)):
            raise Refused("numeric comparisons require a numeric value")
        return field, operator, value

    def selection(self, field: Any) -> list[str]:
        """Reads the attributes that an agent wants to see; whether they exist is asked with :meth:`require`.

        Args:
            field: One name, or a list of them.

        Returns:
            The names.

        Raises:
            Refused: It is neither, or there are too few or too many.
        """
        names = [field] if isinstance(field, str) else field
        if not isinstance(names, list):
            raise Refused("field must be a string or a list of attribute names")
        if not all(isinstance(name, str) for name in names):
            raise Refused("each field must be a string")
        if not names:
            raise Refused("field must specify at least one attribute name")
        if len(names) > MAX_FIELDS:
            raise Refused(f"field can specify at most {MAX_FIELDS} attributes")
        return names

    def require(self, names: list[str]) -> None:
        """Refuses names that are no attributes.

        Args:
            names: The names.

        Raises:
            Refused: Some are none.
        """
        unknown = [name for name in names if name not in self._is_number]
        if unknown:
            raise Refused(f"unknown field(s): {', '.join(unknown)}. allowed fields: {self._allowed}")


def as_ids(ids: Any) -> list[str]:
    """Reads a list of item ids, or JSON text of one.

    Args:
        ids: What the agent wrote.

    Returns:
        The ids.

    Raises:
        Refused: It is no such list, or too long.
    """
    if isinstance(ids, str):
        try:
            ids = json.loads(ids)
        except (ValueError, RecursionError):
            raise Refused("ids string must be a valid JSON list") from None
    if not isinstance(ids, list):
        raise Refused("ids must be a list")
    if not all(isinstance(id, str) for id in ids):
        raise Refused("each element in ids must be a string")
    if len(ids) > MAX_IDS:
        raise Refused(f"ids can contain at most {MAX_IDS} items")
    return ids


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        if not value.startswith("["):
            return [value]
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise Refused(_NOT_TEXTS) from None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise Refused(_NOT_TEXTS)
    return value


def _number(value: Any) -> int | float | str:
    """Returns a number where the value is or spells one, and text that spells none as it is."""
    if isinstance(value, bool):
        raise Refused("boolean values are not supported for attribute queries")
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        raise Refused("value must be numeric for numeric comparisons, or a string list for `in`/`not_in`")
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        return value
