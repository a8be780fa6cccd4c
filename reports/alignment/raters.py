"""Agreement of annotators with each other and with judges, and of several judges, prompts or repetitions."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from agenthard.audit.statistics.agreement import cohen_kappa, krippendorff_alpha
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.paired_tests import PairComparison, compare_pairs
from agenthard.audit.statistics.rates import wilson_interval
from agenthard.audit.statistics.result import Result, Undefined
from agenthard.audit.statistics.sampling_frame import Mask, SamplingFrame
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.measures import Labelled, Settings
from agenthard.reports.alignment.truth import Names, Truth
from agenthard.reports.labels import Label
from agenthard.taxonomy.record import Record

MAJORITY = "majority of the annotators"


class PairAgreement(Record):
    """Two raters on the tasks that both gave a verdict on."""

    first: str
    """One rater."""
    second: str
    """The other."""
    same: Result
    """Share of their common tasks on which they say the same (flawed or not)."""
    kappa: Result
    """Cohen's κ of the same."""


class RaterAgreement(Record):
    """Agreement of all raters."""

    between_annotators: tuple[PairAgreement, ...]
    """Every pair of annotators; empty for one annotator."""
    with_judge: tuple[PairAgreement, ...]
    """Each annotator with the judge, or the audit, that is compared; with several annotators also their majority."""
    alpha: Result
    """Krippendorff's α of the annotators on flawed or not."""
    alpha_with_judge: Result
    """The same with the judge as one more rater."""
    alpha_categories: Result
    """α of the annotators on the category of flaw, "sound" being one; labels without a known category are left out."""


def rater_agreement(
    labels: Sequence[Label], agreed: Sequence[Truth], answers: Answers, names: Names, settings: Settings
) -> RaterAgreement:
    """Compare all raters.

    Args:
        labels: one label per task and annotator; tasks on which the majority is tied are among them.
        agreed: what the majority says.
        answers: the judge or audit.
        names: the words of the label set.
        settings: parameters.
    """
    verdicts: dict[str, dict[str, str]] = {}
    kinds: dict[str, dict[str, str]] = {}
    for label in labels:
        rater = label.annotator or ""
        verdicts.setdefault(rater, {})[label.task_id] = "flawed" if label.flawed else "sound"
        kind = names.category(label.category) if label.flawed else "sound"
        if kind is not None:
            kinds.setdefault(rater, {})[label.task_id] = kind
    tasks = tuple(dict.fromkeys(label.task_id for label in labels))
    judge = {
        task: "flawed" if answers.by_task[task].flagged else "sound"
        for task in tasks
        if task in answers.by_task and answers.by_task[task].flagged is not None
    }
    annotators = sorted(verdicts)
    with_judge = {name: verdicts[name] for name in annotators}
    if len(annotators) > 1:
        with_judge[MAJORITY] = {task.task_id: "flawed" if task.flawed else "sound" for task in agreed}
    return RaterAgreement(
        between_annotators=tuple(
            _pair(one, other, verdicts[one], verdicts[other], tasks, settings)
            for one, other in combinations(annotators, 2)
        ),
        with_judge=tuple(_pair(name, answers.name, with_judge[name], judge, tasks, settings) for name in with_judge),
        alpha=_alpha([verdicts[name] for name in annotators], tasks, settings),
        alpha_with_judge=_alpha([*(verdicts[name] for name in annotators), judge], tasks, settings),
        alpha_categories=_alpha([kinds.get(name, {}) for name in annotators], tasks, settings),
    )


def pair_of_answers(one: Answers, other: Answers, tasks: Sequence[str], settings: Settings) -> PairAgreement:
    """Compare two judges on the tasks that both gave a verdict on.

    Args:
        one: answers of one judge.
        other: answers of the other.
        tasks: tasks to look at.
        settings: parameters.
    """
    verdicts = [
        {t: str(a.by_task[t].flagged) for t in tasks if t in a.by_task and a.by_task[t].flagged is not None}
        for a in (one, other)
    ]
    return _pair(one.name, other.name, verdicts[0], verdicts[1], tasks, settings)


def _pair(
    first: str, second: str, one: Mapping[str, str], other: Mapping[str, str], tasks: Sequence[str], settings: Settings
) -> PairAgreement:
    common = [task for task in tasks if task in one and task in other]
    same = sum(one[task] == other[task] for task in common)
    kappa = cohen_kappa(
        [one.get(task) for task in tasks],
        [other.get(task) for task in tasks],
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return PairAgreement(
        first=first, second=second, same=wilson_interval(same, len(common), unit="common tasks"), kappa=kappa
    )


def _alpha(raters: Sequence[Mapping[str, str]], tasks: Sequence[str], settings: Settings) -> Result:
    units = [[rater.get(task) for rater in raters] for task in tasks]
    return krippendorff_alpha(units, resamples=settings.resamples, seed=settings.seed)


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
    """Each judge with a verdict on at least half of the labelled tasks that any of them gave one on."""
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

    Accuracy and F1 are taken on the tasks that all answered, so that easier tasks favour no judge; judges with a
    verdict on fewer than half of the tasks that any of them answered are compared in pairs only. Paired differences:
    exact McNemar tests on right or wrong, pair by pair; where tasks come in clusters, a paired bootstrap over clusters
    on the common tasks.
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
    verdicts = {judge.name: labelled.answered(judge) for judge in judges}
    asked = np.logical_or.reduce([answered for _, answered in verdicts.values()])
    main = {name: both for name, both in verdicts.items() if 2 * both[1].sum() >= asked.sum()}
    common: Mask = np.logical_and.reduce([answered for _, answered in main.values()])
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
        left_out={name: int(answered.sum()) for name, (_, answered) in verdicts.items() if name not in main},
        common=int(common.sum()),
        labelled=len(frame.tasks),
        agreement=tuple(pair_of_answers(one, other, frame.tasks, settings) for one, other in combinations(judges, 2)),
        differences=differences,
        test="exact McNemar, Holm"
        if clusters is None
        else f"paired bootstrap over clusters, {resamples} resamples, seed {settings.seed}, Holm",
    )


def _clusters(frame: SamplingFrame, common: Mask) -> list[str] | None:
    if frame.clusters is None:
        return None
    return [name for name, counted in zip(frame.clusters, common, strict=True) if counted]
