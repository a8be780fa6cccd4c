"""The findings to look at first: shared causes in the order of the tickets, then by tasks × effect × certainty."""

from collections import Counter
from collections.abc import Iterable, Sequence

from agenthard.audit.decisions.tickets import effect_of
from agenthard.taxonomy.finding import Evidence, Finding, Severity, Tier

LOOK_FIRST = 10
"""Findings that the first screen of the page shows; console and summary show the first of them."""
_SHARED = 5
"""Causes that tasks share among them, as long as tasks have flaws of their own."""
_OF_ONE_CHECK = 2
"""Findings of one check among them, as long as other checks found something too."""
_EFFECT = {Severity.AFFECTS_SCORE: 1.0, Severity.MAY_AFFECT_SCORE: 0.3, Severity.COSMETIC: 0.0}
"""Assumed share of runs whose score a flaw decides, where it was not measured."""
_CERTAINTY = {Tier.CONFIRMED: 1.0, Tier.SUSPECTED: 0.5, Tier.SIGNAL: 0.0}


def look_first(findings: Iterable[Finding], tickets: Iterable[str]) -> tuple[Finding, ...]:
    """Choose the findings that a maintainer should look at first.

    At most five causes that tasks share come first, in the order of the tickets; the others follow by tasks × effect ×
    certainty. Of one check at most two are chosen while there are others. Signals and cosmetic findings are never
    chosen.

    Args:
        findings: all findings of an audit.
        tickets: ids of those that are tickets, in the order of the tickets.

    Returns:
        At most `LOOK_FIRST` findings.
    """
    place = {identity: number for number, identity in enumerate(tickets, start=1)}

    def order(finding: Finding) -> tuple[int, float, tuple[bool, int, int, int, str]]:
        return place.get(finding.id, len(place) + 1), -weight(finding), urgency(finding)

    count, shared = Counter[str](), 0
    chosen: list[Finding] = []
    left: list[Finding] = []
    for finding in sorted(filter(weight, findings), key=order):
        is_shared = finding.id in place
        fits = count[finding.check] < _OF_ONE_CHECK and not (is_shared and shared == _SHARED)
        count[finding.check] += fits
        shared += fits and is_shared
        (chosen if fits else left).append(finding)
    return tuple(sorted([*chosen, *left][:LOOK_FIRST], key=order))


def weight(finding: Finding) -> float:
    """Return tasks × effect × certainty; 0 for signals, cosmetic findings and causes that affect no task."""
    measured, _ = effect_of(finding)
    effect = _EFFECT[finding.severity] if measured is None else measured
    return len(finding.task_ids) * effect * _CERTAINTY[finding.tier] if finding.severity in _CLAIMED else 0.0


_CLAIMED = (Severity.AFFECTS_SCORE, Severity.MAY_AFFECT_SCORE)


def urgency(finding: Finding) -> tuple[bool, int, int, int, str]:
    """Return what findings are sorted by where tasks and effect do not matter: signals last, then severity and tier."""
    return (
        finding.tier is Tier.SIGNAL,
        list(Severity).index(finding.severity),
        list(Tier).index(finding.tier),
        -len(finding.task_ids),
        finding.id,
    )


def two_sides(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Choose the quotes that show both sides: the first, and the first one from another part of the task or from a run.

    Args:
        evidence: all quotes of a finding.
    """
    first, *others = evidence
    other = next((item for item in others if _side(item) != _side(first)), next(iter(others), None))
    return (first,) if other is None else (first, other)


def _side(item: Evidence) -> Iterable[str | None]:
    return item.trajectory_id, *item.pointer.split("/")[1:3]
