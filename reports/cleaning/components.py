"""Which of the four parts of a task the findings are about."""

from collections.abc import Mapping, Sequence

from agenthard.audit.statistics import Estimate, Result
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.figures import CategoryShare, ComponentShare
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Finding, Tier


def component_shares(findings: Sequence[Finding], components: Mapping[str, str]) -> tuple[ComponentShare, ...]:
    """Count findings by the part of the task that is wrong.

    Args:
        findings: all findings.
        components: component of each finding, by finding id.

    Returns:
        One record per component, in the order of the taxonomy.
    """
    sure = [finding for finding in findings if finding.tier is not Tier.SIGNAL]
    rows = []
    for component, title in COMPONENT_TITLES.items():
        mine = [f for f in findings if components[f.id] == component]
        counted = [f for f in mine if f.tier is not Tier.SIGNAL]
        share: Result = undefined("there are no findings", 0, "findings")
        if sure:
            share = Estimate(
                value=len(counted) / len(sure),
                n=len(sure),
                of=len(sure),
                unit="findings",
                method="share of confirmed and suspected findings; a count, no sample",
            )
        rows.append(
            ComponentShare(
                component=component,
                title=title,
                confirmed=sum(f.tier is Tier.CONFIRMED for f in mine),
                suspected=sum(f.tier is Tier.SUSPECTED for f in mine),
                signals=len(mine) - len(counted),
                tasks=len({task for f in counted for task in f.task_ids}),
                share=share,
                categories=_category_shares(counted),
            )
        )
    return tuple(rows)


def _category_shares(findings: Sequence[Finding]) -> tuple[CategoryShare, ...]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.category, []).append(finding)
    rows = [
        CategoryShare(category=name, findings=len(group), tasks=len({task for f in group for task in f.task_ids}))
        for name, group in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.findings, row.category)))
