"""The table of operators in ``docs/faults.md``, made from their docstrings."""

from collections.abc import Sequence

from agenthard.audit.faults.operator import Operator


def operator_table(operators: Sequence[Operator]) -> str:
    """Write one line per operator, by category in the order of their files."""
    lines = ["| category | operator | plants | decided by | check known |", "|---|---|---|---|---|"]
    for each in sorted(operators, key=lambda one: [o.category for o in operators].index(one.category)):
        decided = f"{each.decided_by}: {each.because}"
        known = "yes" if each.rule_known else "no"
        lines.append(f"| {each.category} | `{each.id}` | {each.plants} | {decided} | {known} |")
    return "\n".join(lines)
