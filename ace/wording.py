"""The task as text: what an instance's ``instruction`` says, made from its rules alone."""

from collections.abc import Iterable, Mapping, Sequence

from agenthard.ace.domain import Bound, Domain, GlobalKind, GlobalRule
from agenthard.ace.instance import Slot


def instruction(domain: Domain, rows: int, cols: int, limits: Mapping[str, int], slots: Sequence[Slot]) -> str:
    """Writes the task text of an instance, as the paper's released files word it.

    Args:
        domain: The domain.
        rows: Rows of the grid.
        cols: Columns of the grid.
        limits: Threshold by name of global rule.
        slots: The slots, row by row.

    Returns:
        The text: the task, the grid, the global rules, the rules of each slot, and the form of the answer.
    """
    words = domain.wording
    blocks = [
        [
            f"You are solving a {words.task} task. Fill the {rows}x{cols} grid with {words.item} ids.",
            words.grid.format(rows=rows, cols=cols),
            "Only the empty (`null`) slots need to be filled. "
            "All other non-empty slots are already fixed and must not be changed.",
            "Each cell must use exactly one candidate id from that slot.",
        ],
        [
            "Across the whole grid, the plan must satisfy these global constraints:",
            *_numbered(global_phrase(domain, rule, limits[rule.name]) for rule in domain.global_rules),
        ],
        ["For the hidden-slot constraints:"],
    ]
    for index, slot in enumerate(slots):
        lines = [f"For slot ({slot.row}, {slot.col}):", *_numbered(slot_phrases(domain, slot))]
        if index == 0:
            blocks[-1] += lines
        else:
            blocks.append(lines)
    blocks.append([f"Return only a {rows}x{cols} list of {words.item} ids."])
    return "\n\n".join("\n".join(block) for block in blocks)


def global_phrase(domain: Domain, rule: GlobalRule, threshold: int) -> str:
    """Writes a global rule as a clause without a full stop.

    Args:
        domain: The domain of the rule.
        rule: The rule.
        threshold: Its threshold.

    Returns:
        The clause.
    """
    items, attribute = domain.wording.items, _spoken(rule.attribute)
    match rule.kind:
        case GlobalKind.SUM_MAX:
            return f"the total {attribute} of all {items} in the whole grid must be at most {threshold}"
        case GlobalKind.SUM_MIN:
            return f"the total {attribute} of all {items} in the whole grid must be at least {threshold}"
        case GlobalKind.REPEAT_MAX:
            return f"the same {attribute} can appear at most {threshold} times in the whole grid"
        case GlobalKind.COUNT_MIN:
            return f"there must be at least {threshold} {items} in the whole grid whose {attribute} is {rule.counted}"
        case GlobalKind.COUNT_MIN_THRESHOLD:
            counted = f"{attribute} is at least {rule.counted}"
            return f"there must be at least {threshold} {items} in the whole grid whose {counted}"
        case GlobalKind.MAX_ROW_SUM:
            return f"for any single row in the whole grid, the total {attribute} must be at most {threshold}"


def slot_phrases(domain: Domain, slot: Slot) -> list[str]:
    """Writes the rules of a slot as clauses without a full stop.

    Args:
        domain: The domain.
        slot: The slot.

    Returns:
        The clauses, in the domain's order of rules.
    """
    place = f"the {domain.wording.item} in slot ({slot.row}, {slot.col})"
    side = {Bound.MAX: "at most", Bound.MIN: "at least"}
    return [
        f"{place} must have {_spoken(rule.attribute)} {side[rule.bound]} {slot.limits[rule.name]}"
        for rule in domain.slot_rules
        if rule.name in slot.limits
    ]


def _spoken(attribute: str) -> str:
    return attribute.replace("_", " ")


def _numbered(clauses: Iterable[str]) -> list[str]:
    return [f"({number}) {clause}." for number, clause in enumerate(clauses, start=1)]
