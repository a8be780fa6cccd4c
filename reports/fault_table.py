"""The table of seeded faults, as Markdown."""

from collections.abc import Collection

from agenthard.reports.fault_score import TARGET_FALSE_ALARMS, TARGET_RECALL, FaultScore, RecallRow
from agenthard.reports.kit.markdown import md, table
from agenthard.reports.label_causes import Rate


def fault_table(score: FaultScore) -> str:
    """Write recall by category and the false alarms as Markdown."""
    parts = []
    for decided, title in (("rules", "Rules can decide"), ("judge", "Needs a judge")):
        rows = [row for row in score.categories if row.decided_by == decided]
        if rows:
            everything = score.overall[rows[0].decided_by]
            cells = [_cells(row, score.experimental) for row in rows]
            counts = (sum(r.at_place for r in rows), sum(r.with_experimental for r in rows))
            cells.append(["**all**", f"**{rate(everything)}**", *map(str, counts), ""])
            columns = [title, "found, 95 % interval", "at the place", "with experimental checks", "by (faults)"]
            parts.append(table(columns, cells))
    parts.append(
        f"Where no check was known when the fault was designed (and rules can decide it): {rate(score.rule_unknown)}."
    )
    found = score.overall_with_experimental
    parts.append(
        r"With experimental checks (\*), which find nothing on real benchmarks: "
        + "; ".join(f"decided by {decided} {rate(found[decided])}" for decided in found)
        + "."
    )
    alarms = ", ".join(f"{md(check)} {count}" for check, count in score.false_alarms_by_check.items())
    parts.append(
        f"False alarms on untouched tasks: {rate(score.false_alarms)}, with experimental checks "
        f"{rate(score.false_alarms_with_experimental)}{f' ({alarms})' if alarms else ''}. "
        f"Aimed at: recall of at least {TARGET_RECALL:g} where rules can decide, fewer than {TARGET_FALSE_ALARMS:.0%} "
        "false alarms."
    )
    return "\n\n".join(parts)


def _cells(row: RecallRow, experimental: Collection[str]) -> list[str]:
    marks = {check: r"\*" if check in experimental else "" for check in row.checks}
    checks = ", ".join(f"{md(check)}{marks[check]} {count}" for check, count in row.checks.items())
    return [md(row.name), rate(row.found), str(row.at_place), str(row.with_experimental), checks]


def rate(value: Rate) -> str:
    """Write k of n with its rate and interval."""
    if value.value is None:
        return "0 of 0"
    return f"{value.k} of {value.n} = {value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"
