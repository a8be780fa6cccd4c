"""Agreement by cause: is a task flagged for the flaw that its label names?

A flagged task agrees *by component* when one of the findings that decided it has a category of the component that the
label names; *by category* when one has the category itself; *by place* when one quotes, in that task, a value at or
below a place that the label names, or above it. A task that is flagged for other reasons only is a miss and a false
alarm. The words of the label set are looked up among the ids and names of the taxonomy; a flawed task whose label has
no word that is known cannot be compared at that grain, counts neither way, and its words are listed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics.intervals import wilson
from agenthard.reports.alignment.truth import Names
from agenthard.reports.labels import Label
from agenthard.taxonomy.finding import Finding, Level, Severity, Tier
from agenthard.taxonomy.record import Record

Grain = Literal["component", "category", "place"]
GRAINS: tuple[Grain, ...] = ("component", "category", "place")
PARTS = ("user", "environment", "evaluation", "ground_truth")
"""Parts of a task record; a label that names one as the place of a flaw means all of it."""


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


WITH_TICKETS = "dropped, review or ticket"
"""A task counts as flagged, too, when a ticket names it among the tasks that its cause affects."""


def rate_of(hits: set[str], among: set[str]) -> Rate:
    """Count how many of ``among`` are in ``hits``."""
    k, n = len(hits & among), len(among)
    low, high = wilson(k, n) if n else (None, None)
    return Rate(k=k, n=n, value=k / n if n else None, low=low, high=high)


class CauseRow(Record):
    """Agreement of one way of flagging with the causes that labels name."""

    name: str
    """Check id, or 'dropped', 'dropped or review' and 'dropped, review or ticket'."""
    grain: Grain
    """What has to be the same: the component, the category, or the place."""
    precision: Rate
    """Share of the flagged tasks on which the cause agrees."""
    recall: Rate
    """Share of the tasks labelled flawed that are flagged with an agreeing cause."""
    elsewhere: int
    """Flagged tasks that are labelled flawed, for another cause than the one they are flagged for."""


class Causes(Record):
    """Agreement by cause, and what could not be compared."""

    rows: tuple[CauseRow, ...]
    """Overall first, then checks; each at every grain at which some label can be compared."""
    not_comparable: dict[Grain, int]
    """Units labelled flawed whose label names nothing known at that grain; they count in no row of it."""
    unknown_words: dict[str, int]
    """Words of the label set that name nothing in the taxonomy or in a task record, with the number of labels."""


def is_shared_cause(finding: Finding) -> bool:
    """Tell whether a finding is a cause that tasks share and that may matter: a ticket under the policy that ships."""
    return (
        finding.level is not Level.TASK
        and finding.tier is not Tier.SIGNAL
        and finding.severity is not Severity.COSMETIC
    )


def by_cause(
    labels: Sequence[Label],
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    names: Names,
    unit: Callable[[str], str],
) -> Causes:
    """Compare causes.

    Args:
        labels: labels of tasks that the audit read.
        findings: its findings.
        decisions: its decisions; the findings that led to one are what a task is flagged for.
        names: the label set's words for categories and components.
        unit: what a task counts as, itself or its cluster.
    """
    comparing = _Comparing(labels, findings, names)
    by_id = {finding.id: finding for finding in findings}
    labelled = {label.task_id for label in labels}
    flagged: dict[str, list[tuple[str, Finding]]] = {"dropped": [], "dropped or review": [], WITH_TICKETS: []}
    for decision in decisions:
        if decision.action not in ("drop", "review") or decision.task_id not in labelled:
            continue
        reasons = [(decision.task_id, by_id[each]) for each in decision.finding_ids if each in by_id]
        flagged["dropped or review"] += reasons
        flagged["dropped"] += reasons if decision.action == "drop" else []
    shared = [(task_id, each) for each in findings if is_shared_cause(each) for task_id in each.task_ids]
    flagged[WITH_TICKETS] = flagged["dropped or review"] + [pair for pair in shared if pair[0] in labelled]
    for finding in sorted(findings, key=lambda each: each.check):
        inside = [(task_id, finding) for task_id in finding.task_ids if task_id in labelled]
        if inside:
            flagged.setdefault(finding.check, []).extend(inside)
    grains = [grain for grain in GRAINS if comparing.truth(grain)]
    return Causes(
        rows=tuple(comparing.row(name, pairs, grain, unit) for name, pairs in flagged.items() for grain in grains),
        not_comparable={grain: len({unit(task) for task in comparing.without(grain)}) for grain in GRAINS},
        unknown_words=comparing.unknown_words(),
    )


class _Comparing:
    """The causes of labels in the taxonomy's words, by task."""

    def __init__(self, labels: Sequence[Label], findings: Sequence[Finding], names: Names) -> None:
        self._flawed = [label for label in labels if label.flawed]
        self._names = names
        self._known: dict[Grain, dict[str, set[str]]] = {grain: {} for grain in GRAINS}
        for label in self._flawed:
            category = names.category(label.category)
            self._note("category", label.task_id, [category])
            self._note("component", label.task_id, [names.component(label.component, category)])
            self._note("place", label.task_id, map(pointer_of, label.places))

    def _note(self, grain: Grain, task_id: str, words: Iterable[str | None]) -> None:
        known = {word for word in words if word is not None}
        if known:
            self._known[grain].setdefault(task_id, set()).update(known)

    def truth(self, grain: Grain) -> Mapping[str, set[str]]:
        """Return what labels name at this grain, by flawed task."""
        return self._known[grain]

    def without(self, grain: Grain) -> list[str]:
        """List the flawed tasks whose label names nothing known at this grain."""
        return [label.task_id for label in self._flawed if label.task_id not in self._known[grain]]

    def unknown_words(self) -> dict[str, int]:
        """Count the words of labels that name nothing."""
        words: Counter[str] = Counter()
        for label in self._flawed:
            category = self._names.category(label.category)
            if label.category is not None and category is None:
                words[f"category: {label.category}"] += 1
            if label.component is not None and self._names.component(label.component, None) is None:
                words[f"component: {label.component}"] += 1
            words.update(f"place: {place}" for place in label.places if pointer_of(place) is None)
        return dict(sorted(words.items()))

    def row(
        self, name: str, flags: Sequence[tuple[str, Finding]], grain: Grain, unit: Callable[[str], str]
    ) -> CauseRow:
        """Compare the findings that one way of flagging gives on labelled tasks."""
        truth = self._known[grain]
        left_out = {unit(task_id) for task_id in self.without(grain)} - {unit(task_id) for task_id in truth}
        flagged = {unit(task_id) for task_id, _ in flags} - left_out
        agreeing = {unit(task) for task, finding in flags if task in truth and self._agrees(finding, task, grain)}
        flawed = {unit(task_id) for task_id in truth}
        return CauseRow(
            name=name,
            grain=grain,
            precision=rate_of(agreeing, flagged),
            recall=rate_of(agreeing, flawed),
            elsewhere=len((flagged & flawed) - agreeing),
        )

    def _agrees(self, finding: Finding, task_id: str, grain: Grain) -> bool:
        named = self._known[grain][task_id]
        if grain == "category":
            return finding.category in named
        if grain == "component":
            return self._names.component(None, self._names.category(finding.category)) in named
        quoted = [item.pointer for item in finding.evidence if item.task_id == task_id and item.trajectory_id is None]
        return any(_within(a, b) or _within(b, a) for a in quoted for b in named)


def pointer_of(place: str) -> str | None:
    """Return the JSON Pointer of a label's place; None when it names no place of a task record.

    >>> pointer_of("/ground_truth/turns/0"), pointer_of("ground_truth"), pointer_of("initial_config")
    ('/ground_truth/turns/0', '/ground_truth', None)
    """
    if place.startswith("/"):
        return place
    return f"/{place}" if place in PARTS else None


def _within(pointer: str, place: str) -> bool:
    return pointer == place or pointer.startswith(f"{place}/")
