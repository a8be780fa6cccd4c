"""Tables in a state: many records, each under an id."""

from typing import Any

from taxonomy.pointer import join

FEWEST_OTHERS = 2
"""Records that a table has at least beside one that is named."""

Rows = dict[str, tuple[str, dict[str, Any]]]
"""The records of a table by id, each with its JSON Pointer."""


def rows(pointer: str, value: Any) -> Rows:
    """Return the records of a table, which is an object of records by id or a list of records with an ``id``.

    Args:
        pointer: where the value stands.
        value: any JSON value; one that is no table has no records.
    """
    if isinstance(value, dict) and len(value) > FEWEST_OTHERS and all(isinstance(row, dict) for row in value.values()):
        return {str(id): (join(pointer, id), row) for id, row in value.items()}
    if isinstance(value, list) and all(isinstance(row, dict) and "id" in row for row in value):
        return {str(row["id"]): (join(pointer, i), row) for i, row in enumerate(value)}
    return {}
