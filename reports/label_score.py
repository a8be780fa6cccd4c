"""Precision and recall of an audit against labels, per check and overall, next to three baselines.

A label set is a lower bound: a task without a label is not necessarily clean, so precision is one too. Only labelled
tasks count. Agreement by task says whether a task is flagged, agreement by cause (``label_causes``) whether it is
flagged for what the label names. Every row says whether the checks were developed on these labels. The baselines are
*flag everything* (precision = base rate, recall = 1), *random* (as many tasks flagged at random: precision = base rate,
recall = share flagged, in expectation) and, when given, *the previous release*.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from agenthard.audit.decisions.policy import Decision
from agenthard.reports.alignment.truth import Names
from agenthard.reports.label_causes import WITH_TICKETS, Causes, Rate, by_cause, is_shared_cause, rate_of
from agenthard.reports.labels import Label, LabelFile
from agenthard.taxonomy.finding import Finding, Tier
from agenthard.taxonomy.record import Record

DataKind = Literal["development", "held-out"]
"""development: the checks were developed on these labels; held-out: no author of a check saw them."""


class ScoreRow(Record):
    """How well one way of flagging agrees with the labels."""

    name: str
    """Check id, or the name of the row."""
    kind: str
    """check, overall or baseline."""
    data: DataKind
    """Whether the checks were developed on these labels."""
    flagged: float
    """Labelled units flagged (expected number for the random baseline)."""
    precision: Rate | None
    """Share of the flagged that are labelled flawed; None for an expectation without a sample."""
    recall: Rate | None
    """Share of the labelled flawed that are flagged."""
    expected_precision: float | None = None
    """For the random baseline."""
    expected_recall: float | None = None
    """For the random baseline."""


class LabelScore(Record):
    """The whole comparison."""

    unit: str
    """task, or cluster."""
    data: DataKind
    """Whether the checks were developed on these labels."""
    labelled: int
    """Units with a label, true or false, that the audit read."""
    unlabelled: int
    """Tasks of the label file that are neither called flawed nor sound (null); they count in no rate."""
    not_in_run: int
    """Labels of tasks that the audit did not read; they do not count."""
    flawed: int
    """Units labelled flawed."""
    base_rate: float | None
    """flawed / labelled."""
    rows: tuple[ScoreRow, ...]
    """Overall first, then baselines, then checks."""
    recall_by_severity: dict[str, Rate]
    """Share of labelled flawed units of each severity that are dropped or under review."""
    causes: Causes
    """Agreement by cause."""


def score(
    given: LabelFile,
    task_ids: Iterable[str],
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    *,
    names: Names,
    data: DataKind = "development",
    previous: Sequence[Decision] | None = None,
    by_cluster: bool = False,
) -> LabelScore:
    """Compare an audit with labels.

    Args:
        given: the label set.
        task_ids: all tasks that the audit read.
        findings: its findings.
        decisions: its decisions.
        names: the label set's words for categories and components.
        data: whether the checks were developed on these labels; assume so unless it is known that they were not.
        previous: decisions of an earlier release of AgentHard on the same benchmark.
        by_cluster: count clusters instead of tasks; a cluster is flawed, or flagged, when any member is.
    """
    read = set(task_ids)
    used = [label for label in given.labels if label.task_id in read]
    unit = _units(used, by_cluster)
    truth = {unit(label.task_id) for label in used if label.flawed}
    everything = {unit(label.task_id) for label in used}
    inside = {label.task_id for label in used}

    def flagged(tasks: Iterable[str]) -> set[str]:
        return {unit(task_id) for task_id in tasks if task_id in inside}

    dropped = flagged(d.task_id for d in decisions if d.action == "drop")
    marked = flagged(d.task_id for d in decisions if d.action in ("drop", "review"))

    def row(name: str, kind: str, flags: set[str]) -> ScoreRow:
        rates = {"precision": rate_of(truth, flags), "recall": rate_of(flags, truth)}
        return ScoreRow(name=name, kind=kind, data=data, flagged=len(flags), **rates)

    rows = [
        row("dropped", "overall", dropped),
        row("dropped or review", "overall", marked),
        row(WITH_TICKETS, "overall", marked | flagged(i for f in findings if is_shared_cause(f) for i in f.task_ids)),
        row("flag everything", "baseline", everything),
        _random(data, len(marked), len(everything), len(truth)),
    ]
    if previous is not None:
        before = flagged(d.task_id for d in previous if d.action in ("drop", "review"))
        rows.append(row("previous release (dropped or review)", "baseline", before))
    tiers = {finding.check: finding.tier for finding in findings}
    for check in sorted(tiers, key=lambda name: (tiers[name] == Tier.SIGNAL, name)):
        touched = flagged(task_id for f in findings if f.check == check for task_id in f.task_ids)
        rows.append(row(check, "check", touched))
    severities = sorted({label.severity for label in used if label.flawed and label.severity})
    return LabelScore(
        unit="cluster" if by_cluster else "task",
        data=data,
        labelled=len(everything),
        unlabelled=len(given.unlabelled),
        not_in_run=len(given.labels) - len(used),
        flawed=len(truth),
        base_rate=len(truth) / len(everything) if everything else None,
        rows=tuple(rows),
        recall_by_severity={
            severity: rate_of(marked, {unit(x.task_id) for x in used if x.flawed and x.severity == severity})
            for severity in severities
        },
        causes=by_cause(used, findings, decisions, names, unit),
    )


def _units(labels: Sequence[Label], by_cluster: bool) -> Callable[[str], str]:
    cluster = {label.task_id: label.cluster for label in labels}
    return lambda task_id: (by_cluster and cluster.get(task_id)) or task_id


def _random(data: DataKind, flagged: int, labelled: int, flawed: int) -> ScoreRow:
    return ScoreRow(
        name="random, as many flagged",
        kind="baseline",
        data=data,
        flagged=flagged,
        precision=None,
        recall=None,
        expected_precision=flawed / labelled if labelled and flagged else None,
        expected_recall=flagged / labelled if labelled and flawed else None,
    )
