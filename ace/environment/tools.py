"""The eleven tools an agent may call: six that every domain has, and five named after the domain.

This is the only declaration of them; the schemas for model providers and for MCP are generated from it
(:mod:`agenthard.ace.environment.schemas`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from agenthard.ace.domain import Domain, Number

MAX_IDS = 5
"""Ids that one call may ask the attributes of."""
MAX_FIELDS = 5
"""Attributes that one call may ask for."""
NUMERIC_OPERATORS = (">", ">=", "=", "<", "<=")
LIST_OPERATORS = ("in", "not_in")

_TEXTS = {"type": "array", "items": {"type": "string"}}


class Kind(StrEnum):
    """What a tool does, whatever the domain calls it."""

    SET_SLOT = "set_slot"
    GRID = "get_current_grid_state"
    SLOT_BUDGET = "get_hidden_slot_query_budget"
    GLOBAL_BUDGET = "get_global_check_budget"
    SLOT_ID = "get_slot_id"
    DONE = "done"
    QUERY = "query_{domain}_candidate_from_attribute"
    ITEM_INFO = "get_{domain}_item_info"
    ITEM_ATTRIBUTES = "get_{domain}_item_attributes"
    CHECK_SLOT = "check_{domain}_slot_constraints"
    CHECK_GLOBAL = "check_{domain}_global_constraints"

    def of(self, domain: str) -> str:
        """Returns the tool's name in a domain.

        Args:
            domain: Name of the domain.

        Returns:
            The name an agent calls.
        """
        return self.value.format(domain=domain)


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a tool."""

    name: str
    """Its key."""
    description: str
    """What it is, for the model."""
    schema: dict[str, Any]
    """JSON Schema of its value."""
    required: bool = True
    """False when it may be left out."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model is told of it."""

    name: str
    """What the model calls."""
    description: str
    """What it does, for the model."""
    parameters: tuple[Parameter, ...] = ()
    """Its arguments."""


_ROW = Parameter("row", "Row of the cell, counted from 0.", {"type": "integer"})
_COL = Parameter("col", "Column of the cell, counted from 0.", {"type": "integer"})


def declare(domain: Domain, others: Sequence[Domain] = (), shuffle: int | None = None) -> tuple[Tool, ...]:
    """Declares the tools of a domain.

    Args:
        domain: The domain.
        others: Further domains whose tools are shown too, as distractors; calling those is refused.
        shuffle: Seed by which to shuffle the tools, so that no order is favoured; None keeps the order of `Kind`.

    Returns:
        The tools.
    """
    tools = [*_common(domain), *_specific(domain)]
    for other in others:
        tools += _specific(other)
    if shuffle is not None:
        Random(shuffle).shuffle(tools)
    return tuple(tools)


def _common(domain: Domain) -> list[Tool]:
    item = domain.wording.item
    chosen = Parameter(
        "id",
        "Id of one of the slot's candidates; it replaces what the slot held. Null or nothing empties the slot.",
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        required=False,
    )
    return [
        Tool(Kind.SET_SLOT, f"Put one candidate {item} into a hidden slot, or empty the slot.", (_ROW, _COL, chosen)),
        Tool(Kind.GRID, "Show the whole grid as it stands; null marks an empty slot."),
        Tool(Kind.SLOT_BUDGET, "Show how many queries about one hidden slot are left.", (_ROW, _COL)),
        Tool(Kind.GLOBAL_BUDGET, "Show how many checks of the whole grid are left."),
        Tool(Kind.SLOT_ID, f"Show which {item} a cell holds; null means that it is empty.", (_ROW, _COL)),
        Tool(Kind.DONE, "Hand in the grid as it stands. This ends the task and cannot be undone."),
    ]


def _specific(domain: Domain) -> list[Tool]:
    name, item, items = domain.name, domain.wording.item, domain.wording.items
    numbers = ", ".join(a.name for a in domain.attributes if isinstance(a, Number))
    words = ", ".join(["name", *(a.name for a in domain.attributes if not isinstance(a, Number))])
    field = Parameter("field", f"Attribute to compare. Numbers: {numbers}. Text: {words}.", {"type": "string"})
    operator = Parameter(
        "operator",
        f"For numbers one of {' '.join(NUMERIC_OPERATORS)}; for text one of {' '.join(LIST_OPERATORS)}.",
        {"type": "string"},
    )
    value = Parameter(
        "value",
        "What to compare with: a number, or for text one value or a list of values.",
        {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}, _TEXTS]},
    )
    id = Parameter("id", f"Id of one of the {items} that stood in the grid from the start.", {"type": "string"})
    ids = Parameter("ids", f"At most {MAX_IDS} ids of {items} that stood in the grid from the start.", _TEXTS)
    fields = Parameter(
        "field",
        f"One attribute, or a list of at most {MAX_FIELDS}.",
        {"anyOf": [{"type": "string"}, _TEXTS]},
    )
    return [
        Tool(
            Kind.QUERY.of(name),
            f"Ask which candidate {items} of a hidden slot meet one condition on one attribute. "
            "Each answered query counts against the slot's query budget.",
            (_ROW, _COL, field, operator, value),
        ),
        Tool(Kind.ITEM_INFO.of(name), f"Show all attributes of one {item} of the initial grid.", (id,)),
        Tool(Kind.ITEM_ATTRIBUTES.of(name), f"Show some attributes of {items} of the initial grid.", (ids, fields)),
        Tool(Kind.CHECK_SLOT.of(name), f"Check the {item} in a hidden slot against that slot's rules.", (_ROW, _COL)),
        Tool(
            Kind.CHECK_GLOBAL.of(name),
            "Check whether the full grid meets the rules of the whole grid. Each check counts against its budget.",
        ),
    ]
