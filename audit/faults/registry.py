"""All operators, in the order of the files that hold them."""

from functools import cache
from types import ModuleType

from agenthard.audit.faults import (
    copies,
    gold_extra,
    gold_schema,
    gold_values,
    leaks,
    prompts,
    responses,
    runs,
    scoring,
    slips,
    texts,
    tools,
)
from agenthard.audit.faults.operator import Operator

_MODULES: tuple[ModuleType, ...] = (
    texts,
    runs,
    responses,
    tools,
    prompts,
    scoring,
    leaks,
    gold_schema,
    gold_values,
    gold_extra,
    slips,
    copies,
)


@cache
def operators() -> tuple[Operator, ...]:
    """Return every operator."""
    return tuple(value for module in _MODULES for value in vars(module).values() if isinstance(value, Operator))
