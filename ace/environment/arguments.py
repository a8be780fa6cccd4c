"""What an agent wrote as arguments, made into values, or refused with the wording of the released code."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from agenthard.ace.domain import Domain, Number
from agenthard.ace.environment.tools import LIST_OPERATORS, MAX_FIELDS, MAX_IDS, NUMERIC_OPERATORS
from agenthard.ace.instance import Cell
from agenthard.taxonomy.errors import AgentHardError

Arguments = Mapping[str, Any]
_NOT_TEXTS = "value must be a string list for `in` or `not_in` queries"


class RefusedCallError(AgentHardError):
    """A call that a tool does not carry out; the message tells the agent why."""

    code = "AH605"
    remedy = "Nothing: the agent reads the message and calls again."


def as_cell(arguments: Arguments) -> Cell:
    """Reads row and column, from whole numbers or anything that `int` makes one of.

    Args:
        arguments: The arguments of a call.

    Returns:
        The cell; it may lie outside the grid.

    Raises:
        RefusedCallError: One of the two is no number.
    """
    try:
        return int(arguments["row"]), int(arguments["col"])
    except (TypeError, ValueError, OverflowError):
        raise RefusedCallError("row and col must be integers") from None


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
            RefusedCallError: The condition makes no sense.
        """
        field, operator = arguments["field"], arguments["operator"]
        if not isinstance(field, str) or not field:
            raise RefusedCallError("field must be a non-empty string")
        if field not in self._is_number:
            raise RefusedCallError(f"unknown field: {field}. allowed fields: {self._allowed}")
        if operator not in NUMERIC_OPERATORS and operator not in LIST_OPERATORS:
            raise RefusedCallError(f"operator must be one of: {', '.join(NUMERIC_OPERATORS + LIST_OPERATORS)}")
        by_list = operator in LIST_OPERATORS
        value = _texts(arguments["value"]) if by_list else _number(arguments["value"])
        if self._is_number[field] and by_list:
            raise RefusedCallError(f"numeric fields only support: {', '.join(NUMERIC_OPERATORS)}")
        if not self._is_number[field] and not by_list:
            raise RefusedCallError(f"categorical fields only support: {', '.join(LIST_OPERATORS)}")
        if isinstance(value, str) or (isinstance(value, float) and not isfinite(value)):
            raise RefusedCallError("numeric comparisons require a numeric value")
        return field, operator, value

    def selection(self, field: Any) -> list[str]:
        """Reads the attributes that an agent wants to see; whether they exist is asked with :meth:`require`.

        Args:
            field: One name, or a list of them.

        Returns:
            The names.

        Raises:
            RefusedCallError: It is neither, or there are too few or too many.
        """
        names = [field] if isinstance(field, str) else field
        if not isinstance(names, list):
            raise RefusedCallError("field must be a string or a list of attribute names")
        if not all(isinstance(name, str) for name in names):
            raise RefusedCallError("each field must be a string")
        if not names:
            raise RefusedCallError("field must specify at least one attribute name")
        if len(names) > MAX_FIELDS:
            raise RefusedCallError(f"field can specify at most {MAX_FIELDS} attributes")
        return names

    def require(self, names: list[str]) -> None:
        """Refuses names that are no attributes.

        Args:
            names: The names.

        Raises:
            RefusedCallError: Some are none.
        """
        unknown = [name for name in names if name not in self._is_number]
        if unknown:
            raise RefusedCallError(f"unknown field(s): {', '.join(unknown)}. allowed fields: {self._allowed}")


def as_ids(ids: Any) -> list[str]:
    """Reads a list of item ids, or JSON text of one.

    Args:
        ids: What the agent wrote.

    Returns:
        The ids.

    Raises:
        RefusedCallError: It is no such list, or too long.
    """
    if isinstance(ids, str):
        try:
            ids = json.loads(ids)
        except (ValueError, RecursionError):
            raise RefusedCallError("ids string must be a valid JSON list") from None
    if not isinstance(ids, list):
        raise RefusedCallError("ids must be a list")
    if not all(isinstance(id, str) for id in ids):
        raise RefusedCallError("each element in ids must be a string")
    if len(ids) > MAX_IDS:
        raise RefusedCallError(f"ids can contain at most {MAX_IDS} items")
    return ids


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        if not value.startswith("["):
            return [value]
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise RefusedCallError(_NOT_TEXTS) from None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise RefusedCallError(_NOT_TEXTS)
    return value


def _number(value: Any) -> int | float | str:
    """Returns a number where the value is or spells one, and text that spells none as it is."""
    if isinstance(value, bool):
        raise RefusedCallError("boolean values are not supported for attribute queries")
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        raise RefusedCallError("value must be numeric for numeric comparisons, or a string list for `in`/`not_in`")
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        return value
