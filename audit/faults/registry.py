"""All operators, in the order of the modules that hold them, and the table of them in ``docs/faults.md``.

Operators that belong to one benchmark are found by its name, as its checks are; another package registers a tuple of
its own under the entry-point group ``agenthard.operators``.
"""

from collections.abc import Sequence
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
from agenthard.audit.plugins import plugins

GROUP = "agenthard.operators"
BUILT_IN = {"escape": "agenthard.escape.faults:OPERATORS"}
"""Operators of ours outside this package: they belong to one benchmark."""

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
    """Return every operator: ours, and those of benchmarks by name."""
    ours = [value for module in _MODULES for value in vars(module).values() if isinstance(value, Operator)]
    return (*ours, *(each for plugin in plugins(GROUP, BUILT_IN).values() for each in plugin.load()))


def operator_table(operators: Sequence[Operator]) -> str:
    """Write one line per operator, by category in the order of their files."""
    lines = ["| category | operator | plants | decided by | check known |", "|---|---|---|---|---|"]
    for each in sorted(operators, key=lambda one: [o.category for o in operators].index(one.category)):
        decided = f"{each.decided_by}: {each.because}"
        known = "yes" if each.rule_known else "no"
        lines.append(f"| {each.category} | `{each.id}` | {each.plants} | {decided} | {known} |")
    return "\n".join(lines)
