"""The tables of a label plan, of a sample and of a drift check."""

from agenthard.audit.statistics.result import Estimate
from agenthard.reports.alignment.drift import Drift
from agenthard.reports.alignment.plan import Plan
from agenthard.reports.alignment.sampling import SampleKey
from agenthard.reports.alignment.sections import cell
from agenthard.reports.amounts import plural
from agenthard.reports.comparison.sections import Section

MOST = 50
"""Flips that are listed."""


def plan_sections(plan: Plan) -> list[Section]:
    """Lay out the table of the planner."""
    expected = plan.expected
    text = (
        f"{plural(expected.tasks, 'task')}, expected precision {expected.precision:g}, recall {expected.recall:g}, "
        f"{expected.prevalence:.1%} flawed; so {expected.flagged_share:.1%} ({expected.flagged_tasks}) are flagged and "
        f"{expected.missed_share:.1%} of the others are flawed."
    )
    rows = [
        (row.goal, row.design, f"{row.labels} of {expected.tasks}", str(row.flagged), f"± {row.half_precision:.3f}",
         f"± {row.half_recall:.3f}")
        for row in plan.rows
    ]  # fmt: skip
    columns = ("goal", "design", "labels", "on flagged", "precision", "recall")
    return [Section("Labels needed", text, columns, rows), Section("", f"{plan.method}; {expected.level:.0%}.")]


def sample_sections(key: SampleKey) -> list[Section]:
    """Lay out how a sample was drawn."""
    rows = [
        (s.name, f"{s.population:,}", str(s.sampled), f"{s.population / s.sampled:.2f}" if s.sampled else "none drawn")
        for s in key.strata
    ]
    text = f"{plural(len(key.tasks), 'task')}, design {key.design} by {key.drawn_by}, seed {key.seed}"
    if key.not_asked:
        text += f"; {plural(key.not_asked, 'task')} that nobody was asked about cannot be drawn"
    return [Section("Sample", text, ("stratum", "tasks", "drawn", "weight"), rows)]


def drift_sections(found: Drift) -> list[Section]:
    """Lay out a drift check."""
    missing = "".join(f"; {why}: {count}" for why, count in found.without_verdict.items())
    text = (
        f"{found.why}. {found.compared} of {plural(found.frozen, 'frozen task')} compared; "
        f"content changed: {found.content_changed}{missing}."
    )
    rows = [
        (row.version, f"{_flips(row.newly_flagged, row.newly_clean)} of {row.flips.n}", cell(row.flips),
         str(row.newly_flagged), str(row.newly_clean), f"{row.direction_p:.3g}", f"{row.rate_p:.3g}")
        for row in found.rows
    ]  # fmt: skip
    columns = (
        "prompt or checks",
        "flips",
        "share",
        "newly flagged",
        "newly clean",
        "p, one way",
        "p, more than allowed",
    )
    flips = [
        (flip.task_id, f"{flip.before} → {flip.now}", flip.content, flip.version, flip.reason)
        for flip in found.flips[:MOST]
    ]
    shown = f"the first {MOST} of {len(found.flips)}" if len(found.flips) > MOST else str(len(found.flips))
    listed = Section(f"Flips ({shown})", "", ("task", "verdict", "content", "prompt or checks", "reason"), flips)
    level = found.rows[0].flips.level if isinstance(found.rows[0].flips, Estimate) else None
    how = f"Wilson intervals{f', {level:.0%}' if level else ''}; exact McNemar and binomial tests, α = {found.alpha:g}."
    return [Section("Drift", text, columns, rows), listed, Section("", how)]


def _flips(flagged: int, clean: int) -> str:
    return str(flagged + clean)
