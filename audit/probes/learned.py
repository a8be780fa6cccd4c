"""Learned probes: a small classifier is shown the answers of some tasks and guesses those of others.

It finds what no single probe finds, such as two weak traits that tell much together. It never reads the stated rules,
so it cannot reason; whatever it finds is a give-away.

Tasks are shuffled and cut into blocks, and each block is guessed by what was learned from the blocks before it. So no
guess depends on an answer that is guessed later, and hits by chance are independent: their exact test holds. It does
not after cross-validation, where each answer also teaches the guesses that teach it: there chance alone gave such
classifiers a spread of up to 1.6 times the binomial one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.probes.attributes import shown_mean
from agenthard.audit.probes.columns import Column, Floats, Ints, count_equal
from agenthard.audit.probes.probe import Probe
from agenthard.audit.probes.table import Bools, Table

if TYPE_CHECKING:  # 3 MB that only tasks with candidates need
    from numpy.random import Generator

Matrix: TypeAlias = NDArray[np.float32]
"""Features, one row per candidate; NaN where unknown."""
Judge: TypeAlias = Callable[[Matrix], Floats]
"""Scores candidates."""
Learn: TypeAlias = Callable[[Matrix, Bools], Judge]
"""Learns from candidates and whether they are right."""

_CUTS = (1 / 6, 1 / 3, 2 / 3)
"""Shares of the tasks at which a new block begins; the first block only teaches."""
LEAST = 12
"""Tasks below which nothing can be learned."""
_RIVALS = 3
"""Wrong candidates of a choice that a classifier is trained on; more would teach it little and take long."""
_WORDS = 60
"""Most frequent words of a column that get a feature of their own."""
_AT_ONCE = 10_000
"""Candidates that are scored together: a matrix of all would take more memory than everything else."""
_PLACES = 40
"""Places in the list that get a feature of their own."""


def learned_probes(table: Table, places: Sequence[Probe], shapes: Sequence[Probe], rng: "Generator") -> Iterator[Probe]:
    """Yield the probes of classifiers: logistic regression per family of traits and on all, boosted trees on all.

    Features are given as they are, as rank within the choice, and as difference from the mean of the choice, since
    only differences within a choice can tell its candidates apart. Only trees find traits that tell nothing but
    together; on all traits they find those of one family as well as those of two.

    Args:
        table: the candidates.
        places: probes of the ids and of the pool, whose scores are features.
        shapes: probes of all attributes together, whose scores are features.
        rng: shuffles the tasks and draws the training samples.
    """
    scenes = np.unique(table.scene)
    if len(scenes) < LEAST:
        return
    block = np.empty(len(table.scenes), dtype=np.int64)
    block[rng.permutation(scenes)] = np.searchsorted(_CUTS, np.arange(len(scenes)) / len(scenes), side="right")
    sample = _sample(table, rng)
    names, kept = [], []
    for name, features in _features(table, places, shapes):
        for feature in features:
            known = feature[sample][~np.isnan(feature[sample])]
            if len(known) and known.min() < known.max():
                names.append(name)
                kept.append(_standard(feature))
    if not kept:
        return
    for name in dict.fromkeys(names):
        own = [feature for each, feature in zip(names, kept, strict=True) if each == name]
        yield _probe(name, "logistic regression", _guess(table, own, block, sample, regression))
    yield _probe("all traits", "logistic regression", _guess(table, kept, block, sample, regression))
    yield _probe("all traits", "boosted trees", _guess(table, kept, block, sample, boosted_trees))


def _probe(name: str, model: str, scores: Floats) -> Probe:
    says = f"is the one that {model} learned from other tasks to pick by {name}"
    return Probe(f"learned:{name}:{model}", "learned", name, says, scores)


def _sample(table: Table, rng: "Generator") -> Ints:
    """Rows to train on: every answer, and a few of its rivals."""
    lot = np.where(table.truth, -1.0, rng.random(len(table)))
    rank = np.empty(len(table), dtype=np.int64)
    rank[np.lexsort((lot, table.choice))] = np.arange(len(table))
    return np.flatnonzero(rank - np.repeat(table.starts, table.sizes) <= _RIVALS)


def _standard(feature: Floats) -> Matrix:
    """Write a feature as distance from its mean, in standard deviations if unknown ones are at the mean.

    All candidates count, so no answer goes into it.
    """
    centred = feature - np.nanmean(feature)
    spread = np.sqrt(np.nansum(centred**2) / len(centred))
    standard: Matrix = (centred / max(spread, 1e-12)).astype(np.float32)
    return standard


def _guess(table: Table, features: Sequence[Matrix], block: Ints, sample: Ints, learn: Learn) -> Floats:
    """Score the candidates of each block but the first by what was learned from the blocks before it."""
    from threadpoolctl import threadpool_limits

    scores = np.full(len(table), np.nan)
    row_block = block[table.scene]
    with threadpool_limits(1):
        for number in range(1, len(_CUTS) + 1):
            train, test = sample[row_block[sample] < number], np.flatnonzero(row_block == number)
            judge = learn(_matrix(features, train), table.truth[train])
            for part in np.split(test, range(_AT_ONCE, len(test), _AT_ONCE)):
                scores[part] = judge(_matrix(features, part))
    return scores.round(9)


def _matrix(features: Sequence[Matrix], rows: Ints) -> Matrix:
    return np.stack([feature[rows] for feature in features], axis=1)


def regression(known: Matrix, truth: Bools) -> Judge:
    """Learn by logistic regression; unknown features count as their mean."""
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=0.1, max_iter=500).fit(np.nan_to_num(known), truth)
    return lambda asked: line.decision_function(np.nan_to_num(asked, copy=False))


def boosted_trees(known: Matrix, truth: Bools) -> Judge:
    """Learn by boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=8, max_bins=63, early_stopping=False, random_state=0
    )
    told = ~np.isnan(known).all(axis=0)  # trees refuse a column without a value
    trees.fit(known[:, told], truth)
    return lambda asked: trees.decision_function(asked[:, told])


def _features(table: Table, places: Iterable[Probe], shapes: Iterable[Probe]) -> Iterator[tuple[str, Iterable[Floats]]]:
    text = (column for column in table.columns if column.source == "text")
    attributes = (column for column in table.columns if column.source == "attribute")
    yield "order", _order_features(table)
    yield "ids and pool order", _scores(table, places)
    yield "text", chain.from_iterable(_column_features(table, column) for column in text)
    yield (
        "attributes",
        chain(chain.from_iterable(_column_features(table, c) for c in attributes), _scores(table, shapes)),
    )


def _order_features(table: Table) -> list[Floats]:
    places = range(int(min(table.offered.max(initial=0), _PLACES)))
    return [table.position, table.position / np.maximum(table.offered - 1, 1)] + [
        (table.position == place).astype(float) for place in places
    ]


def _scores(table: Table, probes: Iterable[Probe]) -> Iterator[Floats]:
    """Scores of other probes, as they are and as ranks; "lowest" is only "highest" turned round."""
    for probe in probes:
        if not probe.id.endswith(":lowest"):
            yield probe.score
            yield table.ranks(probe.score)


def _column_features(table: Table, column: Column) -> Iterator[Floats]:
    if np.isnan(column.values).all():
        return
    if not column.numeric:
        codes, counts = np.unique(column.values[~np.isnan(column.values)], return_counts=True)
        for code in codes[np.argsort(-counts, kind="stable")][:_WORDS]:
            yield np.where(np.isnan(column.values), 0.0, column.values == code)
        yield count_equal(table.choice, column.values)
        yield np.where(np.isnan(column.values), np.nan, column.common)
        return
    yield column.values
    yield table.ranks(column.values)
    yield column.values - table.mean(column.values)
    if column.source == "attribute" and len(table.shown_ids):
        yield column.values - shown_mean(table, column)
