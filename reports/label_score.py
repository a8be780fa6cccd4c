"""Precision and recall of an audit against labels, per check and overall, beside three baselines.

A label set is a lower bound: a task without a label is not thereby clean, so precision is one too. Only labelled
tasks count. The baselines are *flag everything* (precision = base rate, recall = 1), *random* (as many tasks flagged
at random: precision = base rate, recall = share flagged, in expectation) and, when given, *the previous release*.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.decisions.policy import Decision
from audit.intervals import wilson
from taxonomy.finding import Finding, Tier
from taxonomy.record import Record


class LabelError(Exception):
    """The label file cannot be used; the message names the line and what is expected."""


class Label(Record):
    """What people say about one task."""

    task_id: str
    """Id of AgentTask."""
    flawed: bool
    """True when the label set calls it flawed."""
    severity: str | None = None
    """Severity in the label set's own words."""
    cluster: str | None = None
    """Tasks of one cluster share their flaw; they count once in the clustered figures."""
    category: str | None = None
    """Kind of flaw in the label set's own words."""
    component: str | None = None
    """Part of the task that is flawed, in the label set's own words."""
    annotator: str | None = None
    """Who labelled it."""
    mode: str | None = None
    """Why the judge was wrong on it, in the words of somebody who looked."""
    confirmed_later: bool | None = None
    """What a second look at a flag said that the first labels call wrong: True = the flaw is there after all."""


class Rate(Record):
    """k of n with its 95 % Wilson interval; the rate is undefined when n = 0."""

    k: int
    """Numerator."""
    n: int
    """Denominator."""
    value: float | None
    """k / n."""
    low: float | None
    """Lower end."""
    high: float | None
    """Upper end."""


class ScoreRow(Record):
    """How well one way of flagging agrees with the labels."""

    name: str
    """Check id, or what the row stands for."""
    kind: str
    """check, overall or baseline."""
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
    labelled: int
    """Units with a label that the audit read."""
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


def read_labels(path: Path, truth: str = "flawed") -> list[Label]:
    """Read labels from JSON Lines.

    A line needs ``task_id`` and the boolean field ``truth``; ``domain`` joins the id as ``domain/task_id``;
    ``severity`` and ``cluster`` are optional.

    Raises:
        LabelError: when a line lacks them.
    """
    labels = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            labels.append(label_of(row, truth))
        except (ValueError, KeyError, TypeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise LabelError(
                f"{path.name}, line {number}: {what}; a label needs task_id and the boolean field {truth!r}"
            ) from error
    if not labels:
        raise LabelError(f"{path.name}: no labels; expected one JSON object per line")
    return labels


def label_of(row: Mapping[str, Any], truth: str = "flawed") -> Label:
    """Turn one line of a label file into a label.

    Args:
        row: the JSON object of the line (see ``read_labels``). ``category``, ``component``, ``annotator``, ``mode`` and
            ``confirmed_later`` are taken where they are given; an empty text counts as not given.
        truth: boolean field that says what is flawed.

    Raises:
        KeyError: without ``task_id`` or the field ``truth``.
        TypeError: when a field that should be true or false is neither.
    """
    task_id = str(row["task_id"])
    if row.get("domain") and not task_id.startswith(f"{row['domain']}/"):
        task_id = f"{row['domain']}/{task_id}"
    if not isinstance(row[truth], bool):
        raise TypeError(f"{truth} is {row[truth]!r}, not true or false")
    if not isinstance(row.get("confirmed_later"), bool | None):
        raise TypeError(f"confirmed_later is {row['confirmed_later']!r}, not true, false or null")
    texts = {name: row.get(name) for name in ("cluster", "category", "component", "annotator", "mode")}
    return Label(
        task_id=task_id,
        flawed=row[truth],
        severity=row.get("severity"),
        confirmed_later=row.get("confirmed_later"),
        **{name: None if text in (None, "") else str(text) for name, text in texts.items()},
    )


def score(
    labels: Sequence[Label],
    task_ids: Iterable[str],
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    *,
    previous: Sequence[Decision] | None = None,
    by_cluster: bool = False,
) -> LabelScore:
    """Compare an audit with labels.

    Args:
        labels: the label set.
        task_ids: all tasks that the audit read.
        findings: its findings.
        decisions: its decisions.
        previous: decisions of an earlier release of AgentHard on the same benchmark.
        by_cluster: count clusters instead of tasks; a cluster is flawed, or flagged, when any member is.
    """
    read = set(task_ids)
    used = [label for label in labels if label.task_id in read]
    unit = _units(used, by_cluster)
    truth = {unit(label.task_id) for label in used if label.flawed}
    everything = {unit(label.task_id) for label in used}
    inside = {label.task_id for label in used}

    def flagged(tasks: Iterable[str]) -> set[str]:
        return {unit(task_id) for task_id in tasks if task_id in inside}

    dropped = flagged(d.task_id for d in decisions if d.action == "drop")
    marked = flagged(d.task_id for d in decisions if d.action in ("drop", "review"))
    rows = [
        _row("dropped", "overall", dropped, truth),
        _row("dropped or review", "overall", marked, truth),
        _row("flag everything", "baseline", everything, truth),
        _random(len(marked), len(everything), len(truth)),
    ]
    if previous is not None:
        before = flagged(d.task_id for d in previous if d.action in ("drop", "review"))
        rows.append(_row("previous release (dropped or review)", "baseline", before, truth))
    tiers = {finding.check: finding.tier for finding in findings}
    for check in sorted(tiers, key=lambda name: (tiers[name] == Tier.SIGNAL, name)):
        touched = flagged(task_id for f in findings if f.check == check for task_id in f.task_ids)
        rows.append(_row(check, "check", touched, truth))
    severities = sorted({label.severity for label in used if label.flawed and label.severity})
    return LabelScore(
        unit="cluster" if by_cluster else "task",
        labelled=len(everything),
        not_in_run=len(labels) - len(used),
        flawed=len(truth),
        base_rate=len(truth) / len(everything) if everything else None,
        rows=tuple(rows),
        recall_by_severity={
            severity: _rate(marked, {unit(x.task_id) for x in used if x.flawed and x.severity == severity})
            for severity in severities
        },
    )


def _units(labels: Sequence[Label], by_cluster: bool) -> Callable[[str], str]:
    cluster = {label.task_id: label.cluster for label in labels}
    return lambda task_id: (by_cluster and cluster.get(task_id)) or task_id


def _rate(hits: set[str], among: set[str]) -> Rate:
    k, n = len(hits & among), len(among)
    low, high = wilson(k, n) if n else (None, None)
    return Rate(k=k, n=n, value=k / n if n else None, low=low, high=high)


def _row(name: str, kind: str, flagged: set[str], truth: set[str]) -> ScoreRow:
    return ScoreRow(
        name=name, kind=kind, flagged=len(flagged), precision=_rate(truth, flagged), recall=_rate(flagged, truth)
    )


def _random(flagged: int, labelled: int, flawed: int) -> ScoreRow:
    return ScoreRow(
        name="random, as many flagged",
        kind="baseline",
        flagged=flagged,
        precision=None,
        recall=None,
        expected_precision=flawed / labelled if labelled and flagged else None,
        expected_recall=flagged / labelled if labelled and flawed else None,
    )
