"""Bars of how much of each category the issue-cleaned and the hard split keep."""

from markupsafe import Markup

from agenthard.reports.amounts import amount, plural
from agenthard.reports.cleaning.analysis import CleaningAnalysis, Retention
from agenthard.reports.cleaning.splits import TITLES
from agenthard.reports.figures.drawing import Row, draw
from agenthard.reports.figures.figure import COUNTED, Figure, Key, short
from agenthard.reports.figures.separability import MARKS

TITLE = "Share of each category that stays"


def retention_bars(analysis: CleaningAnalysis) -> Figure:
    """Draw the share of tasks kept per category, with the safeguard as a line.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per split and category.
    """
    columns = ("split", "split_id", "category", "tasks_before", "tasks_kept", "share", "below_safeguard")
    rows = [
        (kept.split, kept.split_id, row.category, row.n, row.kept, row.share, row.below_safeguard)
        for kept in analysis.retention
        for row in kept.rows
    ]
    if not rows:
        reason = "undefined because there is no split after the initial one, or no task has a category"
        return Figure("retention", TITLE, "", "", reason=reason, columns=columns)
    tasks = sum(row.n for row in analysis.retention[0].rows)
    categories = len(analysis.retention[0].rows)
    sentences = " ".join(f"{TITLES[kept.split].capitalize()}: {kept.sentence}" for kept in analysis.retention)
    return Figure(
        id="retention",
        title=TITLE,
        caption=f"n = {tasks:,} tasks in {plural(categories, 'category')}; the dashed line is the safeguard of "
        f"{amount(analysis.retention[0].safeguard, 'share')}. {COUNTED}",
        alt=f"Bar chart of the share of tasks kept in {plural(categories, 'category')}. {sentences}",
        svg=_drawn(analysis.retention),
        keys=tuple(Key("■", MARKS[kept.split][2], TITLES[kept.split]) for kept in analysis.retention),
        columns=columns,
        rows=rows,
    )


def _drawn(splits: tuple[Retention, ...]) -> Markup:
    import altair as alt

    bars: list[Row] = []
    for kept in splits:
        for line, row in enumerate(kept.rows):
            said = f"{amount(row.share, 'share')} ({row.kept:,} of {row.n:,})"
            warning = "\N{EN SPACE}below the safeguard" if row.below_safeguard else ""
            bars.append(
                {
                    "line": line,
                    "split": kept.split,
                    "share": 100 * row.share,
                    "colour": f"var(--{MARKS[kept.split][2]})",
                    "label": said + warning,
                    "tip": f"{row.category}\n{TITLES[kept.split]}: {said}{warning}",
                }
            )
    names: list[Row] = [
        {"line": line, "label": short(row.category), "tip": row.category} for line, row in enumerate(splits[0].rows)
    ]
    guard: list[Row] = [{"share": 100 * splits[0].safeguard}]
    y, offset = alt.Y("line:O", axis=None), alt.YOffset("split:N", sort=[kept.split for kept in splits])
    x = alt.X("share:Q", title="tasks kept, %").scale(domain=[0, 100]).axis(grid=True, tickCount=5)
    base = alt.Chart(alt.NamedData("bars")).encode(y=y, yOffset=offset, description="mark:N")
    layers = [
        base.mark_bar(height={"band": 0.86}).encode(x=x, fill=alt.Fill("colour:N", scale=None)),
        base.mark_text(align="left", dx=6, fontSize=11).encode(x=x, text="label:N"),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-8)
        .encode(y=y, x=alt.value(0), text="label:N", description="mark:N"),
        alt.Chart(alt.NamedData("guard")).mark_rule(stroke="var(--ink)", strokeDash=[4, 3]).encode(x=x),
    ]
    chart = alt.layer(*layers).properties(width=720, height=len(names) * (18 * len(splits) + 10))
    return draw(chart, {"bars": bars, "names": names, "guard": guard})
