"""Small multiples: one panel per agent on common axes, with a line and intervals per series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from agenthard.reports.figures.drawing import Row, draw
from agenthard.reports.figures.figure import Key, short

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
    """Where it stands."""
    y: float
    """Its value."""
    low: float | None
    """Lower end of its interval."""
    high: float | None
    """Upper end."""
    tip: str
    """What it says under the pointer."""


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
    panels: Mapping[str, Mapping[str, Sequence[Point]]], styles: Mapping[str, Style], axes: Axes
) -> Markup:
    """Draw the panels, in the given order, three in a row.

    Args:
        panels: name of the panel → series → points by rising x.
        styles: series → how it looks.
        axes: the common axes.

    Returns:
        The drawing.
    """
    import altair as alt

    data: dict[str, list[Row]] = {}
    charts = []
    xs = [point.x for panel in panels.values() for series in panel.values() for point in series]
    reach = [min(xs), max(xs)] if min(xs) < max(xs) else [min(xs) - 1, max(xs) + 1]
    x_scale = alt.Scale(domain=reach, nice=False, zero=False, padding=10)
    y_scale = alt.Scale(domain=list(axes.domain), nice=False, type="symlog" if axes.symlog else "linear")
    values = _ticks(axes)
    for i, (name, panel) in enumerate(panels.items()):
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
        x = alt.X("x:Q", title=axes.x, scale=x_scale).axis(grid=False, tickCount=6, titlePadding=4)
        title = axes.y if i % COLUMNS == 0 else None
        y = alt.Y("y:Q", title=title, scale=y_scale).axis(grid=True, values=values, domain=False, ticks=False)
        low = alt.Y("low:Q", title=title, scale=y_scale)
        stroke, fill = alt.Stroke("colour:N", scale=None), alt.Fill("colour:N", scale=None)
        points = alt.Chart(alt.NamedData(f"points {i}"))
        layers = [
            alt.Chart(alt.NamedData(f"ranges {i}"))
            .mark_rule(strokeWidth=1.5, opacity=0.55)
            .encode(x=x, y=low, y2="high:Q", stroke=stroke),
            points.mark_line(strokeWidth=1.5).encode(x=x, y=y, detail="series:N", stroke=stroke),
            points.mark_point(size=42, opacity=1, strokeWidth=0).encode(
                x=x, y=y, fill=fill, shape=alt.Shape("shape:N", scale=None), description="mark:N"
            ),
            alt.Chart(alt.NamedData(f"name {i}"))
            .mark_text(align="left", baseline="bottom", fontSize=13, fontWeight=600)
            .encode(x=alt.value(0), y=alt.value(-8), text="label:N", description="mark:N"),
        ]
        charts.append(alt.layer(*layers).properties(width=SIZE[0], height=SIZE[1]))
    return draw(alt.concat(*charts, columns=COLUMNS, spacing=26), data)


def _ticks(axes: Axes) -> list[float]:
    low, high = axes.domain
    if not axes.symlog:
        return [low + (high - low) * step / 4 for step in range(5)]
    return [0, *(tick for tick in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000) if tick <= high)]
