"""Bar charts: findings by component, and how much of each category the splits keep."""

from markupsafe import Markup

from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.splits import TITLES, Retention
from agenthard.reports.figures.cleaning.separability import MARKS
from agenthard.reports.kit.figure import COUNTED, Figure, Key, Mark, draw, short
from agenthard.reports.kit.text import amount, plural, result_text

COMPONENTS_TITLE = "Findings by the part of the task they concern"
RETENTION_TITLE = "Share of each category that stays"
COLOURS = {
    "user": "reddish",
    "environment": "green",
    "evaluation": "vermillion",
    "ground_truth": "blue",
}
"""Component → colour; a component that the taxonomy adds is grey."""


def component_shares(analysis: CleaningAnalysis) -> Figure:
    """Draw confirmed and suspected findings per component; signals, which only order a queue, are left out.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per component and category.
    """
    columns = ("component", "category", "findings", "tasks")
    rows = [(c.component, k.category, k.findings, k.tasks) for c in analysis.components for k in c.categories]
    total = sum(c.confirmed + c.suspected for c in analysis.components)
    if not total:
        reason = "undefined because no finding is confirmed or suspected"
        return Figure("components", COMPONENTS_TITLE, "", "", reason=reason, columns=columns, rows=rows)
    shares = "; ".join(
        f"{c.title} {c.confirmed + c.suspected:,} ({result_text(c.share, 'share')})" for c in analysis.components
    )
    return Figure(
        id="components",
        title=COMPONENTS_TITLE,
        caption=f"n = {total:,} confirmed or suspected findings. Signals, which only order the review, are left out. "
        f"{COUNTED}",
        alt=f"Bar chart of {total:,} findings by component: {shares}.",
        svg=_component_bars(analysis),
        keys=(Key("■", "ink", "confirmed"), Key("□", "ink", "suspected (paler)")),
        columns=columns,
        rows=rows,
    )


def _component_bars(analysis: CleaningAnalysis) -> Markup:
    import altair as alt

    bars: list[Mark] = []
    ends: list[Mark] = []
    names: list[Mark] = []
    for line, part in enumerate(analysis.components):
        colour = f"var(--{COLOURS.get(part.component, 'grey')})"
        both = part.confirmed + part.suspected
        for word, start, end, opacity in (
            ("confirmed", 0, part.confirmed, 1.0),
            ("suspected", part.confirmed, both, 0.4),
        ):
            if end > start:
                tip = f"{part.title}\n{plural(end - start, word + ' finding')}"
                bar = {"line": line, "start": start, "end": end, "colour": colour, "opacity": opacity}
                bars.append({**bar, "tip": tip})
        label = f"{plural(both, 'finding')} ({result_text(part.share, 'share')}) in {plural(part.tasks, 'task')}"
        ends.append({"line": line, "end": both, "label": label if both else "0 findings"})
        names.append({"line": line, "label": short(part.title)})
    y = alt.Y("line:O", axis=None)
    fill, stroke = alt.Fill("colour:N", scale=None), alt.Stroke("colour:N", scale=None)
    layers = [
        alt.Chart(alt.NamedData("bars"))
        .mark_bar(height=20, strokeWidth=1.5)
        .encode(
            y=y,
            x=alt.X("start:Q", title="findings").axis(grid=False, tickMinStep=1, tickCount=8, format=",d"),
            x2=alt.X2("end:Q"),
            fill=fill,
            stroke=stroke,
            fillOpacity=alt.FillOpacity("opacity:Q", scale=None),
            description=alt.Description("mark:N"),
        ),
        alt.Chart(alt.NamedData("ends"))
        .mark_text(align="left", dx=8)
        .encode(y=y, x=alt.X("end:Q"), text=alt.Text("label:N"), description=alt.Description("mark:N")),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-8, fontSize=13)
        .encode(y=y, x=alt.value(0), text=alt.Text("label:N"), description=alt.Description("mark:N")),
    ]
    chart = alt.layer(*layers).properties(width=620, height=36 * len(names))
    return draw(chart, {"bars": bars, "ends": ends, "names": names})


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
        reason = "undefined because no split follows the initial one, or no task has a category"
        return Figure("retention", RETENTION_TITLE, "", "", reason=reason, columns=columns)
    tasks = sum(row.n for row in analysis.retention[0].rows)
    categories = len(analysis.retention[0].rows)
    sentences = " ".join(f"{TITLES[kept.split].capitalize()}: {kept.sentence}" for kept in analysis.retention)
    return Figure(
        id="retention",
        title=RETENTION_TITLE,
        caption=f"n = {tasks:,} tasks in {plural(categories, 'category')}; the dashed line is the safeguard of "
        f"{amount(analysis.retention[0].safeguard, 'share')}. {COUNTED}",
        alt=f"Bar chart of the share of tasks kept in {plural(categories, 'category')}. {sentences}",
        svg=_retention_chart(analysis.retention),
        keys=tuple(Key("■", MARKS[kept.split][2], TITLES[kept.split]) for kept in analysis.retention),
        columns=columns,
        rows=rows,
    )


def _retention_chart(splits: tuple[Retention, ...]) -> Markup:
    import altair as alt

    bars: list[Mark] = []
    for kept in splits:
        for line, row in enumerate(kept.rows):
            words = f"{amount(row.share, 'share')} ({row.kept:,} of {row.n:,})"
            warning = "\N{EN SPACE}below the safeguard" if row.below_safeguard else ""
            bars.append(
                {
                    "line": line,
                    "split": kept.split,
                    "share": 100 * row.share,
                    "colour": f"var(--{MARKS[kept.split][2]})",
                    "label": words + warning,
                    "tip": f"{row.category}\n{TITLES[kept.split]}: {words}{warning}",
                }
            )
    names: list[Mark] = [
        {"line": line, "label": short(row.category), "tip": row.category} for line, row in enumerate(splits[0].rows)
    ]
    guard: list[Mark] = [{"share": 100 * splits[0].safeguard}]
    y, offset = alt.Y("line:O", axis=None), alt.YOffset("split:N", sort=[kept.split for kept in splits])
    x = alt.X("share:Q", title="tasks kept, %").scale(domain=[0, 100]).axis(grid=True, tickCount=5)
    base = alt.Chart(alt.NamedData("bars")).encode(y=y, yOffset=offset, description=alt.Description("mark:N"))
    layers = [
        base.mark_bar(height={"band": 0.86}).encode(x=x, fill=alt.Fill("colour:N", scale=None)),
        base.mark_text(align="left", dx=6, fontSize=11).encode(x=x, text=alt.Text("label:N")),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-8)
        .encode(y=y, x=alt.value(0), text=alt.Text("label:N"), description=alt.Description("mark:N")),
        alt.Chart(alt.NamedData("guard")).mark_rule(stroke="var(--ink)", strokeDash=[4, 3]).encode(x=x),
    ]
    chart = alt.layer(*layers).properties(width=720, height=len(names) * (18 * len(splits) + 10))
    return draw(chart, {"bars": bars, "names": names, "guard": guard})
