"""The preference levels of decoys, decided exactly: how well a decoy hides while the grid is still open.

Slots are taken in order. With a decoy in its slot and the slots after it empty, the rules that set a ceiling can be
checked on what is filled. A slot is on level 1 when these rules hold with each of its decoys, whatever truths and
decoys the earlier slots hold; on level 2 when they hold with the earlier decoy slots at their truths up to any point
and at any of their decoys from there on; on level 3 when they hold with all earlier slots at their truths; else on
level 4.

No combination has to be listed: the rules hold in all of them when each sum stays below its limit in the worst, and the
worst for a sum is the worst of every slot added up.
"""

from agenthard.ace.domain import Domain
from agenthard.ace.instance import Instance
from agenthard.ace.proof.sums import Sum, sums


def stages(domain: Domain, instance: Instance) -> list[int | None]:
    """Returns the level that the decoys of each slot are really on.

    Args:
        domain: The instance's domain.
        instance: The instance; its ids, items and rules must be coherent.

    Returns:
        By slot: 1 to 4, or None for a slot without decoys.
    """
    levels = [1 if slot.decoys else None for slot in instance.answer.slots]
    for each in sums(domain, instance.puzzle):
        if not each.rule.kind.is_floor:
            for index, level in enumerate(_levels(each, instance)):
                known = levels[index]
                if known is not None:
                    levels[index] = max(known, level)
    return levels


def _levels(limited: Sum, instance: Instance) -> list[int]:
    """The level of each slot as far as one sum decides it."""
    puzzle, items = instance.puzzle, instance.puzzle.items
    prefix = limited.of_fixed(puzzle)
    anything = suffix = 0
    levels = []
    for slot, known in zip(puzzle.slots, instance.answer.slots, strict=True):
        truth = limited.load(items[known.truth], slot.row)
        prefix += truth
        if not known.decoys:
            levels.append(1)
            continue
        worst = max(limited.load(items[id], slot.row) for id in known.decoys) - truth
        over = prefix + worst - limited.limit
        levels.append(1 if over + anything <= 0 else 2 if over + suffix <= 0 else 3 if over <= 0 else 4)
        anything += max(worst, 0)
        suffix = max(suffix + worst, 0)
    return levels
