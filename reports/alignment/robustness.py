"""Do several judges, prompts or repetitions say the same, and is one of them better?"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.paired_tests import PairComparison, compare_pairs
from agenthard.audit.statistics.result import Result, Undefined
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.frame import Frame, Mask
from agenthard.reports.alignment.measures import Labelled, Settings
from agenthard.reports.alignment.raters import PairAgreement, pair_of_answers
from agenthard.taxonomy.record import Record


class CommonRow(Record):
    """One judge on the tasks that all judges gave a verdict on."""

    name: str
    """Judge."""
    accuracy: Result
    """Share of the tasks on which it says what the labels say."""
    f1: Result
    """F1."""


class Robustness(Record):
    """Several judges on the same tasks."""

    rows: tuple[CommonRow, ...]
    """Each judge with a verdict on at least half of the labelled tasks."""
    left_out: dict[str, int]
    """The others, with their verdicts: a judge of the second tier sees chosen tasks only."""
    common: int
    """Labelled tasks that all those in ``rows`` gave a verdict on (k)."""
    labelled: int
    """Labelled tasks (N)."""
    agreement: tuple[PairAgreement, ...]
    """Every pair, on the labelled tasks that both gave a verdict on."""
    differences: tuple[PairComparison, ...] | Undefined
    """Every pair: difference of the shares of right verdicts, by a paired test with Holm's correction."""
    test: str
    """The test."""


def robustness(judges: Sequence[Answers], labelled: Labelled, settings: Settings) -> Robustness | None:
    """Compare several judges on the same labelled tasks.

    Accuracy and F1 are taken on the tasks that all answered, so that an easier part of the tasks favours nobody; judges
    with a verdict on fewer than half of the tasks are compared in pairs only. Paired differences: exact McNemar tests
    on right or wrong, pair by pair; where tasks come in clusters, a paired bootstrap over clusters on the common tasks.
    Neither uses weights.

    Args:
        judges: two or more judges, prompts or repetitions.
        labelled: the labelled tasks.
        settings: parameters.

    Returns:
        The comparison; None for fewer than two judges.
    """
    if len(judges) < 2:
        return None
    frame, flawed = labelled.frame, labelled.flawed
    said = {judge.name: labelled.answered(judge) for judge in judges}
    main = {name: both for name, both in said.items() if 2 * both[1].sum() >= len(frame.tasks)}
    common: Mask = np.ones(len(frame.tasks), dtype=np.bool_)
    for _, answered in main.values():
        common &= answered
    correct = [np.where(answered, flagged == flawed, None) for flagged, answered in main.values()]
    clusters = _clusters(frame, common)
    resamples = max(settings.resamples, 40 * len(main) ** 2)
    differences = compare_pairs(
        ScoreMatrix.from_array(np.array(correct, dtype=object).reshape(len(main), -1), list(main), frame.tasks),
        test="mcnemar" if clusters is None else "bootstrap",
        resamples=resamples,
        seed=settings.seed,
        clusters=clusters,
    )
    return Robustness(
        rows=tuple(
            CommonRow(
                name=name,
                accuracy=frame.rate(flagged == flawed, common, "common tasks"),
                f1=frame.f1(flagged, flawed, common, resamples=settings.resamples, seed=settings.seed),
            )
            for name, (flagged, _) in main.items()
        ),
        left_out={name: int(answered.sum()) for name, (_, answered) in said.items() if name not in main},
        common=int(common.sum()),
        labelled=len(frame.tasks),
        agreement=tuple(pair_of_answers(one, other, frame.tasks, settings) for one, other in combinations(judges, 2)),
        differences=differences,
        test="exact McNemar, Holm"
        if clusters is None
        else f"paired bootstrap over clusters, {resamples} resamples, seed {settings.seed}, Holm",
    )


def _clusters(frame: Frame, common: Mask) -> list[str] | None:
    if frame.clusters is None:
        return None
    return [name for name, counted in zip(frame.clusters, common, strict=True) if counted]
