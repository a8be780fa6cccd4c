"""Tickets: causes that tasks share, ordered by how much repairing them helps the score."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from agenthard.audit.decisions.policy import Policy
from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG, RUNS, RUNS_DECIDED
from agenthard.taxonomy.finding import Evidence, Finding, Level, Severity, Tier
from agenthard.taxonomy.record import Record

MOST_EXAMPLES = 3
"""Worst examples of a ticket."""
_TIERS, _SEVERITIES = list(Tier), list(Severity)


class Ticket(Record):
    """One shared cause, described by its finding, with its effect on the score."""

    place: int = Field(ge=1)
    """Place in the list; 1 comes first."""
    finding_id: str
    """Finding that tells the cause."""
    level: Level
    """Where the cause has to be fixed."""
    check: str
    """Check that found it."""
    tier: Tier
    """How sure it is."""
    severity: Severity
    """What it does to the score."""
    claim: str
    """What is wrong."""
    fix: str
    """Suggested change."""
    tasks: int
    """Tasks affected."""
    seen_in: int
    """Tasks that carry the cause, the affected ones included."""
    effect: float | None
    """Share of the recorded runs whose score the cause decides; without recorded runs, share of the answers made for
    this purpose that are scored wrongly; None where neither can be told."""
    basis: Literal["recorded runs", "constructed answers", "not measured"]
    """What the effect was measured on."""
    weight: float
    """Tasks × effect; 0 where the effect was not measured."""
    decides: tuple[str, ...]
    """Tasks whose score the cause decides in a recorded run; they are decided by the policy like those with a flaw of
    their own."""
    examples: tuple[Evidence, ...]
    """The worst examples, at most three."""
    command: str
    """Shell command that shows the flaw again; empty where the quoted file and line show it."""

    @property
    def effect_words(self) -> str:
        """The effect as text.

        >>> Ticket.model_construct(effect=0.5, basis="recorded runs").effect_words
        '50.0 % of recorded runs'
        """
        return "not measured" if self.effect is None else f"{100 * self.effect:.1f} % of {self.basis}"


def tickets(policy: Policy, findings: Iterable[Finding]) -> tuple[Ticket, ...]:
    """List the shared causes that the policy does not accept, the one with the greatest effect first.

    They are ordered by tasks × effect. Causes whose effect is above 0 come first; then those whose effect was not
    measured, by tier, severity and number of tasks; then those that decide nothing in the available runs or answers.

    Args:
        policy: the rules; what they keep is accepted, and no ticket.
        findings: all findings.
    """
    chosen = sorted((finding for finding in findings if policy.is_ticket(finding)), key=_order)
    return tuple(_ticket(place, finding) for place, finding in enumerate(chosen, start=1))


def effect_of(finding: Finding) -> tuple[float | None, Literal["recorded runs", "constructed answers", "not measured"]]:
    """Return the share of runs, or of constructed answers, whose score a cause decides, and which of both it is."""
    measures = finding.measures
    if measures.get(RUNS):
        return measures.get(RUNS_DECIDED, 0.0) / measures[RUNS], "recorded runs"
    if measures.get(ANSWERS):
        return measures.get(ANSWERS_WRONG, 0.0) / measures[ANSWERS], "constructed answers"
    return None, "not measured"


def _order(finding: Finding) -> tuple[int, float, int, int, int, int, str]:
    effect, _ = effect_of(finding)
    group = 1 if effect is None else 0 if effect and finding.task_ids else 2
    weight = len(finding.task_ids) * (effect or 0.0)
    tier, severity = _TIERS.index(finding.tier), _SEVERITIES.index(finding.severity)
    return group, -weight, tier, severity, -len(finding.task_ids), -len(finding.also_in), finding.id


def _ticket(place: int, finding: Finding) -> Ticket:
    effect, basis = effect_of(finding)
    return Ticket(
        place=place,
        finding_id=finding.id,
        level=finding.level,
        check=finding.check,
        tier=finding.tier,
        severity=finding.severity,
        claim=finding.claim,
        fix=finding.fix,
        tasks=len(finding.task_ids),
        seen_in=len({*finding.task_ids, *finding.also_in}),
        effect=effect,
        basis=basis,
        weight=len(finding.task_ids) * (effect or 0.0),
        decides=finding.decides,
        examples=finding.evidence[:MOST_EXAMPLES],
        command=finding.command,
    )
