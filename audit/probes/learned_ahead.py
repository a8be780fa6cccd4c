"""Learned look-ahead: how well a solver that looks at one choice at a time can become by practice.

A benchmark may state how far inside each rule of the whole task a candidate stays while the other choices are open. The
learners here are shown these margins with the answers of some tasks, and pick in the others: each task is guessed by
what four fifths of the others taught. They are reasoning and no shortcut, since margins come from the rules, and they
are not used when instances are made, so they say what is left of a defence against one-choice solvers.
"""

from typing import TYPE_CHECKING

import numpy as np

from agenthard.audit.probes.columns import Floats, Ints
from agenthard.audit.probes.learned import LEAST, Learn, Matrix, boosted_trees, regression
from agenthard.audit.probes.table import Bools, Table

if TYPE_CHECKING:  # imported when it draws
    from numpy.random import Generator

_FOLDS = 5
_LEAST_MARGINS = 5
"""Smallest margins that the learner over all kinds is given."""


def learned_look_ahead(table: Table, rng: "Generator") -> dict[str, Floats]:
    """Score candidates by what was learned from the margins of other tasks.

    Args:
        table: The candidates that the rules of their choices leave.
        rng: Shuffles the tasks.

    Returns:
        By way to learn: a score per row. Nothing where no margins are stated, or too few tasks to learn from.
    """
    scenes = np.unique(table.scene)
    if not table.slack or len(scenes) < LEAST:
        return {}
    fold = np.empty(len(table.scenes), dtype=np.int64)
    fold[rng.permutation(scenes)] = np.arange(len(scenes)) % _FOLDS
    row_fold = fold[table.scene]
    margins = np.stack(list(table.slack.values()), axis=1)
    own = np.full(len(table), np.nan)
    kinds = np.array([table.scenes[number].kind for number in table.scene], dtype=str)
    for kind in dict.fromkeys(kinds.tolist()):
        rows = np.flatnonzero(kinds == kind)
        stated = margins[rows][:, ~np.isnan(margins[rows]).all(axis=0)]
        own[rows] = _guessed(_by_rule(stated), table.truth[rows], row_fold[rows], regression)
    shared = _guessed(_by_size(table, margins), table.truth, row_fold, boosted_trees)
    return {"learned, regression": own, "learned, trees": shared}


def _by_rule(margins: Floats) -> Matrix:
    """Features of one kind: each margin, how far each rule is broken, and the least margin."""
    broken = np.minimum(margins, 0)
    return _standard(np.concatenate([margins, broken, np.nanmin(margins, axis=1, keepdims=True)], axis=1))


def _by_size(table: Table, margins: Floats) -> Matrix:
    """Features of all kinds: the least margins, and the least differences from the mean of the choice."""
    apart = np.stack([column - table.mean(column) for column in margins.T], axis=1)
    number = min(_LEAST_MARGINS, margins.shape[1])
    return _standard(np.concatenate([np.sort(each, axis=1)[:, :number] for each in (margins, apart)], axis=1))


def _standard(features: Floats) -> Matrix:
    known = np.nan_to_num(features - np.nanmean(features, axis=0))
    standard: Matrix = (known / np.maximum(known.std(axis=0), 1e-9)).astype(np.float32)
    return standard


def _guessed(features: Matrix, truth: Bools, fold: Ints, learn: Learn) -> Floats:
    from threadpoolctl import threadpool_limits

    scores = np.full(len(features), np.nan)
    with threadpool_limits(1):
        for number in np.unique(fold):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            if len(test) and 0 < truth[train].sum() < len(train):
                scores[test] = learn(features[train], truth[train])(features[test])
    return scores.round(9)
