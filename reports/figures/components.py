"""Shares of the four parts of a task among the findings."""

from markupsafe import Markup

from agenthard.reports.amounts import plural, said
from agenthard.reports.cleaning.analysis import CleaningAnalysis
from agenthard.reports.figures.drawing import Row, draw
from agenthard.reports.figures.figure import COUNTED, Figure, Key, short

TITLE = "Findings by the part of the task they concern"
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
        reason = "undefined because there is no confirmed or suspected finding to share out"
        return Figure("components", TITLE, "", "", reason=reason, columns=columns, rows=rows)
    shares = "; ".join(
        f"{c.title} {c.confirmed + c.suspected:,} ({said(c.share, 'share')})" for c in analysis.components
    )
    return Figure(
        id="components",
        title=TITLE,
        caption=f"n = {total:,} confirmed or suspected findings. Signals, which only order the review, are left out. "
        f"{COUNTED}",
        alt=f"Bar chart of {total:,} findings by component: {shares}.",
        svg=_drawn(analysis),
        keys=(Key("■", "ink", "confirmed"), Key("□", "ink", "suspected (paler)")),
        columns=columns,
        rows=rows,
    )


def _drawn(analysis: CleaningAnalysis) -> Markup:
    import altair as alt

    bars: list[Row] = []
    ends: list[Row] = []
    names: list[Row] = []
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
        label = f"{plural(both, 'finding')} ({said(part.share, 'share')}) in {plural(part.tasks, 'task')}"
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
            x2="end:Q",
            fill=fill,
            stroke=stroke,
            fillOpacity=alt.FillOpacity("opacity:Q", scale=None),
            description="mark:N",
        ),
        alt.Chart(alt.NamedData("ends"))
        .mark_text(align="left", dx=8)
        .encode(y=y, x="end:Q", text="label:N", description="mark:N"),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-8, fontSize=13)
        .encode(y=y, x=alt.value(0), text="label:N", description="mark:N"),
    ]
    chart = alt.layer(*layers).properties(width=620, height=36 * len(names))
    return draw(chart, {"bars": bars, "ends": ends, "names": names})
