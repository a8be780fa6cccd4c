"""The alignment of an audit or a judge with labels, in one record."""

from collections import Counter
from collections.abc import Sequence

from agenthard.audit.statistics.result import Result
from agenthard.audit.statistics.sampling_frame import SamplingFrame
from agenthard.reports.alignment.answers import Answers
from agenthard.reports.alignment.confidence import Claim, Confidence, confidence
from agenthard.reports.alignment.judge_errors import FailureModes, SecondLook, failure_modes, second_look
from agenthard.reports.alignment.kinds import Kinds, by_kind
from agenthard.reports.alignment.measures import (
    Labelled,
    Measured,
    RandomBaseline,
    Settings,
    constant_baselines,
    measure,
    random_baseline,
)
from agenthard.reports.alignment.raters import RaterAgreement, Robustness, rater_agreement, robustness
from agenthard.reports.alignment.sampling import SampleKey
from agenthard.reports.alignment.truth import Consensus, LabelSet, Names, Truth, consensus
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record


class LabelCounts(Record):
    """How the labels were used."""

    labels: int
    """Labels: one per task and annotator."""
    annotators: tuple[str, ...]
    """Who labelled."""
    tasks: int
    """Labelled tasks that count (N of all figures)."""
    flawed: int
    """Of these, those that a majority calls flawed."""
    tied: int
    """Tasks left out because as many annotators say flawed as not."""
    not_in_run: int
    """Labelled tasks that the run did not read; left out."""
    not_in_key: int
    """Labelled tasks that are not in the sample; left out."""
    unlabelled: int
    """Tasks of the sample without a label that counts; the labelled ones of their stratum represent them."""
    unseen_strata: dict[str, int]
    """Parts of the benchmark without any label, with their tasks; the weighted figures are about the rest."""
    open: int
    """Lines of sheets that are not filled in yet."""
    replaced: int
    """Labels that a later line replaced."""
    unknown_categories: dict[str, int]
    """Words that name no category of the taxonomy, with the number of labels."""


class Alignment(Record):
    """How well an audit, or a judge, agrees with people."""

    compared: str
    """The answers that all parts but the first table are about: the first row of the table."""
    labels: LabelCounts
    """How the labels were used."""
    prevalence: Result
    """Share of flawed tasks among the labelled ones, or in the benchmark for a weighted sample."""
    adjusted_to: float
    """Prevalence that the column of adjusted precision is for."""
    weighted: bool
    """Whether rates are weighted up to the benchmark by the key of the sample."""
    clustered: bool
    """Whether intervals count clusters of tasks."""
    rows: tuple[Measured, ...]
    """What is compared, then baselines."""
    random: tuple[RandomBaseline, ...]
    """Random baselines."""
    kinds: Kinds
    """Agreement by component and category."""
    raters: RaterAgreement
    """Agreement of annotators with each other and with what is compared."""
    second_look: SecondLook
    """Precision post hoc."""
    failure_modes: FailureModes
    """Why it was wrong."""
    robustness: Robustness | None
    """Several judges on the same tasks; None for one."""
    confidence: Confidence | None
    """How far the confidence of judges can be trusted; None without a verified claim on a labelled task."""


class AlignmentError(AgentHardError):
    """Labels and run do not fit together; the message says why."""

    code = "AH704"
    remedy = "Give labels of the benchmark that was audited; the message names what does not match."


def align(
    candidates: Sequence[Answers],
    judges: Sequence[Answers],
    baselines: Sequence[Answers],
    task_ids: Sequence[str],
    labels: LabelSet,
    names: Names,
    settings: Settings,
    key: SampleKey | None = None,
    claims: Sequence[Claim] = (),
) -> tuple[Alignment, Labelled]:
    """Compare answers with labels.

    Args:
        candidates: ways of flagging that are compared; the first is looked at closely.
        judges: judges, prompts and repetitions for the robustness table.
        baselines: other runs to compare with (lint only, one-prompt judge, an earlier run).
        task_ids: all tasks that the run read.
        labels: the labels.
        names: the words of the label set.
        settings: parameters.
        key: how the labelled sample was drawn; without one the labelled tasks are not weighted.
        claims: verified flaws with the confidence that judges state.

    Returns:
        All figures, and the labelled tasks they are about.

    Raises:
        AlignmentError: when no labelled task is left.
    """
    agreed = consensus(labels.labels, names, labels.second_looks)
    labelled, counts = _labelled(agreed, set(task_ids), labels, names, key)
    first = candidates[0]
    compared = {answers.name: answers for answers in (*candidates, *judges, *baselines)}
    rows = [measure(answers, labelled, settings) for answers in compared.values()]
    flawed = labelled.flawed
    everything = flawed | True
    flagged, answered = (labelled.frame.weights * mask for mask in labelled.answered(first))
    weights = labelled.frame.weights
    found = Alignment(
        compared=first.name,
        labels=counts,
        prevalence=labelled.frame.rate(flawed, everything),
        adjusted_to=settings.prevalence,
        weighted=key is not None,
        clustered=labelled.frame.clusters is not None,
        rows=(*rows, *constant_baselines(labelled, settings)),
        random=(
            random_baseline("random at the base rate", float(weights @ flawed / weights.sum()), labelled, settings),
            random_baseline(
                "random, as many flagged", float(flagged.sum() / max(1.0, answered.sum())), labelled, settings
            ),
        ),
        kinds=by_kind(first, labelled, names.taxonomy, settings),
        raters=rater_agreement(labels.labels, agreed.tasks, first, names, settings),
        second_look=second_look(first, labelled),
        failure_modes=failure_modes(first, labelled),
        robustness=robustness(judges, labelled, settings),
        confidence=confidence(claims, labelled.truth, names, ", ".join(labels.annotators), settings.seed),
    )
    return found, labelled


def _labelled(
    agreed: Consensus, in_run: set[str], labels: LabelSet, names: Names, key: SampleKey | None
) -> tuple[Labelled, LabelCounts]:
    known = [task for task in agreed.tasks if task.task_id in in_run]
    strata = None if key is None else {task.task_id: task.stratum for task in key.tasks}
    used = tuple(task for task in known if strata is None or task.task_id in strata)
    if not used:
        missing = "the run read none of the labelled tasks" if not known else "no labelled task is in the key"
        raise AlignmentError(f"{missing}; a label names tasks as the run does, such as {min(in_run, default='')!r}")
    words = Counter(
        label.category
        for label in labels.labels
        if label.flawed and label.category and not names.category(label.category)
    )
    counts = LabelCounts(
        labels=len(labels.labels),
        annotators=labels.annotators,
        tasks=len(used),
        flawed=sum(task.flawed for task in used),
        tied=len(agreed.tied),
        not_in_run=len(agreed.tasks) - len(known),
        not_in_key=len(known) - len(used),
        unlabelled=0 if strata is None else len(strata.keys() - {task.task_id for task in used}),
        unseen_strata={} if key is None else _unseen(key, used),
        open=labels.open,
        replaced=labels.replaced,
        unknown_categories=dict(sorted(words.items())),
    )
    return Labelled(truth=used, frame=_frame(used, key, strata)), counts


def _unseen(key: SampleKey, used: Sequence[Truth]) -> dict[str, int]:
    labelled = {task.task_id for task in used}
    seen = {task.stratum for task in key.tasks if task.task_id in labelled}
    return {s.name: s.population for s in key.strata if s.population and s.name not in seen}


def _frame(used: Sequence[Truth], key: SampleKey | None, strata: dict[str, str] | None) -> SamplingFrame:
    clusters = tuple(task.cluster or f"task {task.task_id}" for task in used)
    return SamplingFrame(
        tasks=tuple(task.task_id for task in used),
        clusters=clusters if len(set(clusters)) < len(clusters) else None,
        strata=None if strata is None else tuple(strata[task.task_id] for task in used),
        population=None if key is None else {stratum.name: stratum.population for stratum in key.strata},
    )
