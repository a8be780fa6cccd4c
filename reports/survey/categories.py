"""Flaws by category: on how many tasks of a benchmark each was found, of how many that were looked at."""

from agenthard.reports.survey.audits import Rate, SurveyedAudit
from agenthard.taxonomy.categories import Taxonomy
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.record import Record


class CategoryCount(Record):
    """One category of flaws in one benchmark."""

    category: str
    """Id of the category."""
    name: str
    """Its name."""
    component: str
    """Part of the task that is wrong."""
    flagged: Rate
    """Tasks that a confirmed or suspected finding touches, of those that a check of the category looked at."""
    confirmed: int
    """Of them, tasks of a confirmed finding that is more than cosmetic."""
    checks: int
    """Checks of the category that ran on at least one task."""


def category_counts(audit: SurveyedAudit, taxonomy: Taxonomy, level: float = 0.95) -> tuple[CategoryCount, ...]:
    """Count the flaws of an audit by category.

    Args:
        audit: the audit.
        taxonomy: categories, with the checks that look for each.
        level: coverage of intervals.

    Returns:
        One record per category, in the order of the taxonomy, the user's own ones last. A category that no check looked
        for has n = 0, which is not the same as no flaw.
    """
    found = [finding for finding in audit.found.findings if finding.tier is not Tier.SIGNAL]
    known: dict[str, tuple[str, str, tuple[str, ...]]] = {
        category.id: (category.name, category.component, category.checks) for category in taxonomy.categories
    }
    for finding in found:  # categories of the user's own
        known.setdefault(finding.category, (finding.category, audit.found.components[finding.id], ()))
    rows = []
    for identity, (name, component, looking) in known.items():
        own = [finding for finding in found if finding.category == identity]
        checks = {*looking, *(finding.check for finding in own)} & set(audit.coverage.checks)
        sure = {
            task
            for finding in own
            if finding.tier is Tier.CONFIRMED and finding.severity is not Severity.COSMETIC
            for task in finding.task_ids
        }
        rows.append(
            CategoryCount(
                category=identity,
                name=name,
                component=component,
                flagged=audit.rate({t for f in own for t in f.task_ids}, audit.looked_at(checks), level),
                confirmed=len(sure),
                checks=len(checks & audit.working),
            )
        )
    return tuple(rows)
