"""The open-prefix preference: a decoy should not show before the grid is full.

A solver that fills slots in order can check the rules that set a ceiling on the filled part. A decoy is on *level 1*
when these still hold with it, whatever the earlier decoy slots hold; on *level 2* when they hold with the earlier
slots at their truths up to any point and at any decoys from there on; on *level 3* when they hold with all earlier
slots at their truths; and on level 4, no level of the paper, when not even that is so.
"""

from collections.abc import Mapping

import numpy as np

from agenthard.ace.generator.scaffold import Scaffold
from agenthard.ace.generator.space import Ints


class Preference:
    """How well the decoys of an instance hide; the highest loads of the slots so far are kept by column.

    Every rule with a ceiling bounds each of its columns by itself, so the worst of all combinations is, column by
    column, the sum of the worst of each slot: nothing has to be enumerated.
    """

    def __init__(self, scaffold: Scaffold, slack: Ints) -> None:
        """Starts before the first slot.

        Args:
            scaffold: The frame of the instance.
            slack: By column: how much more than the truth it may be loaded.
        """
        self._scaffold = scaffold
        self._slack = slack
        self._ceilings = np.concatenate(
            [np.full(rule.count, not rule.rule.kind.is_floor) for rule in scaffold.space.rules]
        )
        self._any = np.zeros_like(slack)
        self._decoys_after_truths = np.zeros_like(slack)

    def levels(self, slot: int, deviations: Ints) -> Ints:
        """Returns the level of possible decoys.

        Args:
            slot: Index of their slot.
            deviations: One row per item: how much more than the truth of the slot it loads each column.

        Returns:
            A level from 1 to 4 for each.
        """
        later = [self._scaffold.loads[self._scaffold.at(index)] for index in range(slot + 1, len(self._scaffold.slots))]
        room = self._slack + np.sum(later, axis=0, dtype=np.int64) if later else self._slack
        levels = np.full(len(deviations), 4, dtype=np.int64)
        for level, worst in ((3, None), (2, self._decoys_after_truths), (1, self._any)):
            left = room if worst is None else room - worst
            levels[(deviations <= left)[:, self._ceilings].all(axis=1) & (levels == level + 1)] = level
        return levels

    def extend(self, decoys: Ints) -> None:
        """Adds a slot's decoys to what the earlier slots may hold.

        Args:
            decoys: Their deviations, one row each.
        """
        worst = decoys.max(axis=0)
        self._any = self._any + np.maximum(worst, 0)
        self._decoys_after_truths = np.maximum(self._decoys_after_truths + worst, 0)


def recorded_stages(scaffold: Scaffold, slack: Ints, decoys: Mapping[int, Ints]) -> dict[int, int]:
    """Returns the levels to record: what each slot's decoys are really on, and 4 for the last slot by convention.

    Args:
        scaffold: The frame of the instance.
        slack: By column: how much more than the truth it may be loaded.
        decoys: Deviations of the decoys by index of their slot, in order.

    Returns:
        A level by index of slot.
    """
    preference = Preference(scaffold, slack)
    stages = {}
    for slot, deviations in decoys.items():
        stages[slot] = int(preference.levels(slot, deviations).max())
        preference.extend(deviations)
    if stages:
        stages[max(stages)] = 4
    return stages


def demanded_level(levels: Ints, decoys: int, attempts: tuple[int, int, int]) -> int:
    """Returns the level that a slot's decoys are held to: how far the demand falls while looking for them.

    Proposals are looked at in order. For each decoy level 1 is demanded at first, level 2 after as many proposals as
    the first of ``attempts``, level 3 after the second, and none after the third.

    Args:
        levels: Level of each proposal that meets the hard condition, in the order they were drawn.
        decoys: Decoys wanted; at most as many as there are proposals.
        attempts: The three numbers of proposals.

    Returns:
        The loosest level that any of the decoys needed.
    """
    loosest, start = 1, 0
    for wanted in range(decoys, 0, -1):
        # Proposals that later decoys need are not passed by.
        window = levels[start : len(levels) - wanted + 1]
        allowed = 1 + np.searchsorted(attempts, np.arange(len(window)), side="right")
        fits = np.flatnonzero(window <= allowed)
        taken = int(fits[0]) if len(fits) else int(window.argmin())
        loosest = max(loosest, int(window[taken]))
        start += taken + 1
    return loosest
