"""Learned probes: a small classifier is shown the answers of some tasks and guesses those of others.

It finds what no single probe finds, such as two weak traits that tell much together. It never reads the stated rules,
so it cannot reason; whatever it finds is a give-away.

Tasks are shuffled and cut into blocks, and each block is guessed by what was learned from the blocks before it. So no
guess depends on an answer that is guessed later, and hits by chance are independent: their exact test holds. It does
not after cross-validation, where each answer also teaches the guesses that teach it: there chance alone gave such
classifiers a spread of up to 1.6 times the binomial one.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from agenthard.audit.probes.attributes import shown_mean, summary_probes
from agenthard.audit.probes.columns import Column, Floats, Ints, count_equal
from agenthard.audit.probes.likeness import likeness_probes
from agenthard.audit.probes.order import id_probes, pool_probes
from agenthard.audit.probes.plausible import limit_probes
from agenthard.audit.probes.probe import Probe
from agenthard.audit.probes.table import Table

_BLOCKS = 6
"""The first only teaches."""
_LEAST = 12
"""Tasks below which nothing can be learned."""
_RIVALS = 3
"""Wrong candidates of a choice that a classifier is trained on; more would teach it little and take long."""
_WORDS = 60
"""Most frequent words of a column that get a feature of their own."""
_PLACES = 40
"""Places in the list that get a feature of their own."""


def learned_probes(table: Table, rng: np.random.Generator) -> Iterator[Probe]:
    """Yield the probes of classifiers: logistic regression and boosted trees, per family of traits and on all traits.

    Features are given as they are, as rank within the choice, and as difference from the mean of the choice, since
    only differences within a choice can tell its candidates apart.

    Args:
        table: the candidates.
        rng: shuffles the tasks and draws the training samples.
    """
    scenes = np.unique(table.scene)
    if len(scenes) < _LEAST:
        return
    block = np.empty(len(table.scenes), dtype=np.int64)
    block[rng.permutation(scenes)] = np.arange(len(scenes)) * _BLOCKS // len(scenes)
    sample = _sample(table, rng)
    groups = {name: [f.astype(np.float32) for f in features] for name, features in _features(table)}
    groups["all traits"] = list(chain.from_iterable(groups.values()))
    for name, features in groups.items():
        varied = [feature for feature in features if len(np.unique(feature[sample][~np.isnan(feature[sample])])) > 1]
        if not varied:
            continue
        matrix = np.stack(varied, axis=1)
        for model in ("logistic regression", "boosted trees"):
            scores = _guess(table, matrix, block[table.scene], sample, model)
            says = f"is the one that {model} learned from other tasks to pick by {name}"
            yield Probe(f"learned:{name}:{model}", "learned", name, says, scores)


def _sample(table: Table, rng: np.random.Generator) -> Ints:
    """Rows to train on: every answer, and a few of its rivals."""
    lot = np.where(table.truth, -1.0, rng.random(len(table)))
    rank = np.empty(len(table), dtype=np.int64)
    rank[np.lexsort((lot, table.choice))] = np.arange(len(table))
    return np.flatnonzero(rank - np.repeat(table.starts, table.sizes) <= _RIVALS)


def _guess(table: Table, matrix: np.ndarray, block: Ints, sample: Ints, model: str) -> Floats:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    scores = np.full(len(table), np.nan)
    with threadpool_limits(1):
        for number in range(1, _BLOCKS):
            train, test = sample[block[sample] < number], np.flatnonzero(block == number)
            if model == "boosted trees":
                trees = HistGradientBoostingClassifier(
                    max_iter=40, max_leaf_nodes=8, max_bins=63, early_stopping=False, random_state=0
                )
                known = ~np.isnan(matrix[train]).all(axis=0)  # trees refuse a column without a value
                trees.fit(np.where(known, matrix[train], 0), table.truth[train])
                scores[test] = trees.decision_function(np.where(known, matrix[test], 0))
            else:
                line = make_pipeline(
                    SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression(C=0.1, max_iter=500)
                )
                line.fit(matrix[train], table.truth[train])
                scores[test] = line.decision_function(matrix[test])
    return scores.round(9)


def _features(table: Table) -> Iterator[tuple[str, Iterable[Floats]]]:
    text = (column for column in table.columns if column.source == "text")
    attributes = (column for column in table.columns if column.source == "attribute")
    shape = chain(summary_probes(table), likeness_probes(table), limit_probes(table))
    yield "order", _order_features(table)
    yield "ids and pool order", _scores(table, chain(id_probes(table), pool_probes(table)))
    yield "text", chain.from_iterable(_column_features(table, column) for column in text)
    yield (
        "attributes",
        chain(chain.from_iterable(_column_features(table, c) for c in attributes), _scores(table, shape)),
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
