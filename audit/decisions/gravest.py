"""The order in which findings deserve to be looked at."""

from collections.abc import Iterable

from agenthard.audit.decisions.tickets import effect_of
from agenthard.taxonomy.finding import Finding, Level, Severity, Tier

_TIERS, _SEVERITIES = list(Tier), list(Severity)
_LEVELS = [Level.EVALUATOR, Level.ENVIRONMENT, Level.TASK, Level.SUITE]


def gravest_first(findings: Iterable[Finding]) -> list[Finding]:
    """Order findings for a reader who looks at a few only.

    The surest come first, then those that do most to the score, then causes in the evaluator and in what tasks share
    before those of one task; then by tasks × measured effect, by the number of tasks, and by id.
    """
    return sorted(findings, key=_gravity)


def _gravity(finding: Finding) -> tuple[int, int, int, float, int, str]:
    effect, _ = effect_of(finding)
    tasks = len(finding.task_ids)
    return (
        _TIERS.index(finding.tier),
        _SEVERITIES.index(finding.severity),
        _LEVELS.index(finding.level),
        -tasks * (effect or 0.0),
        -tasks,
        finding.id,
    )
