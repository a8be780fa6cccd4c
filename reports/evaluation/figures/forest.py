"""Values with their intervals below one another: one line per agent, model or pair."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from agenthard.reports.figures.drawing import Row, draw
from agenthard.reports.figures.figure import short


@dataclass(frozen=True)
class Entry:
    """One line."""

    name: str
    """What it is about."""
    value: float
    """Where its mark stands."""
    low: float | None
    """Lower end of its interval."""
    high: float | None
    """Upper end."""
    said: str
    """The value in words, right of the drawing."""
    tip: str
    """What it says under the pointer."""
    shape: str = "circle"
    """Vega's name of the shape."""
    colour: str = "blue"
    """Colour of the style sheet."""


def forest(entries: Sequence[Entry], title: str, domain: tuple[float, float], line: float | None = None) -> Markup:
    """Draw the lines in the given order.

    Args:
        entries: the lines.
        title: title of the axis.
        domain: ends of the axis.
        line: where to draw a vertical line, such as at no difference.

    Returns:
        The drawing.
    """
    import altair as alt

    rows: list[Row] = [
        {
            "line": i,
            "value": entry.value,
            "low": entry.low,
            "high": entry.high,
            "shape": entry.shape,
            "colour": f"var(--{entry.colour})",
            "tip": f"{entry.name}\n{entry.tip}",
        }
        for i, entry in enumerate(entries)
    ]
    names: list[Row] = [{"line": i, "label": short(e.name, 58), "tip": e.name} for i, e in enumerate(entries)]
    ends: list[Row] = [{"line": i, "label": entry.said} for i, entry in enumerate(entries)]
    width = 430
    y = alt.Y("line:O", axis=None)
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    x, low = (alt.X(f"{name}:Q", title=title, scale=scale).axis(grid=True, tickCount=5) for name in ("value", "low"))
    layers = [
        alt.Chart(alt.NamedData("rows"))
        .mark_point(size=70, opacity=1, strokeWidth=0)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill("colour:N", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            description="mark:N",
        ),
        alt.Chart(alt.NamedData("ranges"))
        .mark_rule(strokeWidth=2)
        .encode(x=low, x2="high:Q", y=y, stroke=alt.Stroke("colour:N", scale=None)),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-10)
        .encode(y=y, x=alt.value(0), text="label:N", description="mark:N"),
        alt.Chart(alt.NamedData("ends"))
        .mark_text(align="left", dx=10, fontSize=11)
        .encode(y=y, x=alt.value(width), text="label:N", description="mark:N"),
    ]
    data: dict[str, Sequence[Row]] = {
        "rows": rows,
        "ranges": [row for row in rows if row["low"] is not None],
        "names": names,
        "ends": ends,
    }
    if line is not None:
        data["guide"] = [{"value": line}]
        guide = alt.Chart(alt.NamedData("guide")).mark_rule(stroke="var(--ink)", strokeDash=[4, 3])
        layers.insert(0, guide.encode(x=alt.X("value:Q", scale=scale)))
    return draw(alt.layer(*layers).properties(width=width, height=24 * len(entries)), data)
