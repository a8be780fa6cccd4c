"""Chart builders of the evaluation figures: intervals below one another, and small multiples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from agenthard.reports.kit.figure import Key, Mark, draw, short


@dataclass(frozen=True)
class Entry:
    """One line."""

    name: str
    """What it is about."""
    value: float
    """Position of its mark."""
    low: float | None
    """Lower end of its interval."""
    high: float | None
    """Upper end."""
    label: str
    """The value as text, to the right of the drawing."""
    tip: str
    """Text of its tooltip."""
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

    rows: list[Mark] = [
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
    names: list[Mark] = [{"line": i, "label": short(e.name, 58), "tip": e.name} for i, e in enumerate(entries)]
    ends: list[Mark] = [{"line": i, "label": entry.label} for i, entry in enumerate(entries)]
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
            description=alt.Description("mark:N"),
        ),
        alt.Chart(alt.NamedData("ranges"))
        .mark_rule(strokeWidth=2)
        .encode(x=low, x2=alt.X2("high:Q"), y=y, stroke=alt.Stroke("colour:N", scale=None)),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-10)
        .encode(y=y, x=alt.value(0), text=alt.Text("label:N"), description=alt.Description("mark:N")),
        alt.Chart(alt.NamedData("ends"))
        .mark_text(align="left", dx=10, fontSize=11)
        .encode(y=y, x=alt.value(width), text=alt.Text("label:N"), description=alt.Description("mark:N")),
    ]
    data: dict[str, Sequence[Mark]] = {
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


COLUMNS = 3
SIZE = (268, 150)
"""Width and height of a panel in pixels."""


@dataclass(frozen=True)
class Style:
    """How a series looks; its shape tells it apart without colour."""

    glyph: str
    """Character of the shape, for the legend."""
    shape: str
    """Vega's name of the shape."""
    colour: str
    """Colour of the style sheet."""
    words: str
    """What the series is."""


@dataclass(frozen=True)
class Point:
    """One mark of a series."""

    x: float
    """Its position."""
    y: float
    """Its value."""
    low: float | None
    """Lower end of its interval."""
    high: float | None
    """Upper end."""
    tip: str
    """Text of its tooltip."""


@dataclass(frozen=True)
class Axes:
    """The axes that all panels share."""

    x: str
    """Title of the horizontal axis."""
    y: str
    """Title of the vertical axis."""
    domain: tuple[float, float]
    """Ends of the vertical axis."""
    symlog: bool = False
    """Whether the vertical axis is logarithmic above 1 and linear around 0."""


def keys(styles: Mapping[str, Style]) -> tuple[Key, ...]:
    """Name the series for the legend."""
    return tuple(Key(style.glyph, style.colour, style.words) for style in styles.values())


def small_multiples(
    panels: Mapping[str, Mapping[str, Sequence[Point]]], styles: Mapping[str, Style], axes: Axes | Mapping[str, Axes]
) -> Markup:
    """Draw the panels, in the given order, three in a row.

    Args:
        panels: name of the panel → series → points by rising x.
        styles: series → how it looks.
        axes: the common axes, or those of each panel.

    Returns:
        The drawing.
    """
    import altair as alt

    data: dict[str, list[Mark]] = {}
    charts = []
    xs = [point.x for panel in panels.values() for series in panel.values() for point in series]
    reach = [min(xs), max(xs)] if min(xs) < max(xs) else [min(xs) - 1, max(xs) + 1]
    levels: dict[str, Any] = (
        {} if min(xs) < max(xs) else {"values": [min(xs)], "format": "~g"}
    )  # a single level needs no ticks around it
    x_scale = alt.Scale(domain=reach, nice=False, zero=False, padding=10)
    for i, (name, panel) in enumerate(panels.items()):
        own = axes if isinstance(axes, Axes) else axes[name]
        y_scale = alt.Scale(domain=list(own.domain), nice=False, type="symlog" if own.symlog else "linear")
        values = _ticks(own)
        data[f"points {i}"] = [
            {
                "series": series,
                "x": point.x,
                "y": point.y,
                "low": point.low,
                "high": point.high,
                "colour": f"var(--{styles[series].colour})",
                "shape": styles[series].shape,
                "tip": f"{name}\n{point.tip}",
            }
            for series, points in panel.items()
            for point in points
        ]
        data[f"ranges {i}"] = [row for row in data[f"points {i}"] if row["low"] is not None]
        data[f"name {i}"] = [{"label": short(name, 38), "tip": name}]
        x = alt.X("x:Q", title=own.x, scale=x_scale).axis(grid=False, tickCount=6, titlePadding=4, **levels)
        title = own.y if i % COLUMNS == 0 or own is not axes else None
        y = alt.Y("y:Q", title=title, scale=y_scale).axis(grid=True, values=values, domain=False, ticks=False)
        low = alt.Y("low:Q", title=title, scale=y_scale)
        stroke, fill = alt.Stroke("colour:N", scale=None), alt.Fill("colour:N", scale=None)
        points = alt.Chart(alt.NamedData(f"points {i}"))
        layers = [
            alt.Chart(alt.NamedData(f"ranges {i}"))
            .mark_rule(strokeWidth=1.5, opacity=0.55)
            .encode(x=x, y=low, y2=alt.Y2("high:Q"), stroke=stroke),
            points.mark_line(strokeWidth=1.5).encode(x=x, y=y, detail=alt.Detail("series:N"), stroke=stroke),
            points.mark_point(size=42, opacity=1, strokeWidth=0).encode(
                x=x, y=y, fill=fill, shape=alt.Shape("shape:N", scale=None), description=alt.Description("mark:N")
            ),
            alt.Chart(alt.NamedData(f"name {i}"))
            .mark_text(align="left", baseline="bottom", fontSize=13, fontWeight=600)
            .encode(x=alt.value(0), y=alt.value(-8), text=alt.Text("label:N"), description=alt.Description("mark:N")),
        ]
        charts.append(alt.layer(*layers).properties(width=SIZE[0], height=SIZE[1]))
    return draw(alt.concat(*charts, columns=COLUMNS, spacing=26), data)


def _ticks(axes: Axes) -> list[float]:
    low, high = axes.domain
    if not axes.symlog:
        return [low + (high - low) * step / 4 for step in range(5)]
    return [0, *(tick for tick in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000) if tick <= high)]
