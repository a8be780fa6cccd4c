"""The hard condition: whatever the earlier decoy slots hold, a decoy breaks a global rule when the rest is the truth.

It makes the solution unique: in any wrong assignment the last wrong slot holds a decoy, the slots after it hold their
truths, and the slots before it hold some combination of truths and decoys, which is what the condition ranges over.
"""

import math
from collections.abc import Sequence

import numpy as np

from agenthard.ace.generator.space import Bools, Floats, Ints

_LISTED = 20_000
"""Most combinations that are listed one by one; instances with more use the plane (see ``Combinations``)."""


class Combinations:
    """What the decoy slots so far can hold, and which further items break the whole in all of it.

    A combination is the vector of how much more than the truth it loads each column. Equal vectors are kept once, and
    those that no later slot can repair are dropped.

    Where listing them all would take too long, a stricter condition replaces the list: the decoy is above the truth by
    more than the rules' slack on the plane, a weighted sum of the rules. Any combination of such decoys is above it
    as well, so it breaks at least one of the rules that were summed.
    """

    def __init__(self, shares: Sequence[int], slack: Ints, plane: Floats) -> None:
        """Starts with nothing chosen.

        Args:
            shares: Decoys of every decoy slot of the instance.
            slack: By column: how much more than the truth it may be loaded.
            plane: Weights of the columns.
        """
        self._slack = slack
        self._plane = plane
        self._listed = math.prod(1 + share for share in shares) <= _LISTED
        self._vectors: Ints = np.zeros((1, len(slack)), dtype=np.int64)

    def broken_by(self, deviations: Ints) -> Bools:
        """Tells which items break the whole in every combination.

        Args:
            deviations: One row per item: how much more than the truth of its slot it loads each column.

        Returns:
            True for each item that does.
        """
        if not self._listed:
            return np.greater(deviations @ self._plane, self._slack @ self._plane + 1e-9)
        # Where even the least item leaves a rule broken, all do.
        vectors = self._vectors[(self._vectors + deviations.min(axis=0) <= self._slack).all(axis=1)]
        meets = np.ones((len(deviations), len(vectors)), dtype=bool)
        for column in np.flatnonzero(self._vectors.max(axis=0) + deviations.max(axis=0) > self._slack):
            room = self._slack[column] - vectors[:, column]
            meets &= deviations[:, column, None] <= room
        broken: Bools = np.logical_not(meets.any(axis=1))
        return broken

    def extend(self, decoys: Ints, later: Ints | None = None) -> None:
        """Adds a slot's decoys to what the combinations may hold.

        Args:
            decoys: Their deviations, one row each.
            later: By column: the least that all later decoy slots together can deviate; None where it is not known.
        """
        if not self._listed:
            return
        vectors = np.concatenate([self._vectors, *(self._vectors + decoy for decoy in decoys)])
        if later is not None:
            vectors = vectors[(vectors + later <= self._slack).all(axis=1)]
        self._vectors = np.unique(vectors, axis=0)
