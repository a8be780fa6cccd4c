"""Test information of the splits by ability: what a smaller split costs, and for which models."""

from typing import TYPE_CHECKING

from markupsafe import Markup

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.information import InformationCurves
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.splits import TITLES
from agenthard.reports.figures.cleaning.separability import MARKS
from agenthard.reports.kit.figure import COUNTED, Figure, Key, Mark, draw
from agenthard.reports.kit.text import sentence

if TYPE_CHECKING:
    import altair as alt

TITLE = "Information about models by their ability"
PANELS = (("whole split", "information"), ("per 100 tasks", "information"))
DASHES = {"initial": [1, 0], "cleaned": [7, 3], "hard": [2, 3]}
"""Dashes of each split, which tell the lines apart without colour."""
WIDTH, HEIGHT = 440, 300


def information_curves(analysis: CleaningAnalysis) -> Figure:
    """Draw the information of each split against ability, of the whole split and per task.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per split and ability.
    """
    found = analysis.information
    columns = ("split", "n", "ability", "information", "information_per_100_tasks")
    if isinstance(found, Undefined):
        return Figure("information", TITLE, "", "", reason=found.reason, columns=columns)
    rows = [
        (TITLES[curve.split], curve.n, ability, value, 100 * value / curve.n)
        for curve in found.curves
        for ability, value in zip(found.abilities, curve.values, strict=True)
    ]
    sizes = "; ".join(
        f"{TITLES[curve.split]} (n = {curve.n:,}, {curve.measured:,} with information) {curve.in_range:.1f} in the "
        f"shaded range, {100 * curve.in_range / curve.n:.1f} per 100 tasks"
        for curve in found.curves
    )
    return Figure(
        id="information",
        title=TITLE,
        caption=f"{sentence(sizes)} {found.sentence} A standard error of an ability is one over the root of the "
        f"information. {sentence(found.method)} Ticks at the bottom are the {len(found.models)} models, which "
        f"selected the hard split: it looks better for them than for others. {COUNTED}",
        alt=f"Information against ability, for {len(found.curves)} splits and {len(found.models)} models: {sizes}.",
        svg=_drawn(found),
        keys=(
            *(Key(MARKS[curve.split][0], MARKS[curve.split][2], TITLES[curve.split]) for curve in found.curves),
            Key("▬", "band", "range of abilities of the rule"),
        ),
        columns=columns,
        rows=rows,
    )


def _drawn(found: InformationCurves) -> Markup:
    import altair as alt

    data: dict[str, list[Mark]] = {
        "range": [{"low": found.low, "high": found.high}],
        "models": [{"x": ability, "tip": f"{model}\nability {ability:.2f}"} for model, ability in found.models.items()],
    }
    panels = []
    for panel, title in PANELS:
        name = panel.replace(" ", "-")
        data[name], data[f"marks-{name}"] = [], []
        for curve in found.curves:
            scale = 1.0 if panel == PANELS[0][0] else 100 / curve.n
            line = [
                {"x": x, "y": scale * y, "split": curve.split}
                for x, y in zip(found.abilities, curve.values, strict=True)
            ]
            data[name] += line
            place = len(line) // 6 * (2 + [each.split for each in found.curves].index(curve.split))
            data[f"marks-{name}"].append(
                {
                    **line[min(place, len(line) - 1)],
                    "tip": f"{TITLES[curve.split]}, n = {curve.n:,}\n{panel}: mean in the range "
                    f"{scale * curve.in_range:.1f}",
                }
            )
        panels.append(_panel(found, name, f"{title}, {panel}"))
    return draw(alt.hconcat(*panels, spacing=36), data)


def _panel(found: InformationCurves, name: str, title: str) -> "alt.LayerChart | alt.FacetChart":
    import altair as alt

    splits = [curve.split for curve in found.curves]
    colours = [f"var(--{MARKS[split][2]})" for split in splits]
    domain = [found.abilities[0], found.abilities[-1]]
    x = alt.X("x:Q", title="ability, in standard deviations of the models").scale(domain=domain, nice=False)
    x = x.axis(grid=False, tickCount=6)
    y = alt.Y("y:Q", title=title).scale(zero=True, nice=True).axis(tickCount=5)
    stroke = alt.Stroke("split:N", legend=None).scale(domain=splits, range=colours)
    fill = alt.Fill("split:N", legend=None).scale(domain=splits, range=colours)
    dash = alt.StrokeDash("split:N", legend=None).scale(domain=splits, range=[DASHES[split] for split in splits])
    shape = alt.Shape("split:N", legend=None).scale(domain=splits, range=[MARKS[split][1] for split in splits])
    tip = alt.Description("mark:N")
    layers = [
        alt.Chart(alt.NamedData("range"))
        .mark_rect(fill="var(--band)")
        .encode(x=alt.X("low:Q", scale=alt.Scale(domain=domain, nice=False)), x2=alt.X2("high:Q")),
        alt.Chart(alt.NamedData("models"))
        .mark_tick(orient="vertical", size=10, thickness=1.5, yOffset=-6, color="var(--ink)")
        .encode(x=x, y=alt.value(HEIGHT), description=tip),
        alt.Chart(alt.NamedData(name)).mark_line(strokeWidth=2).encode(x=x, y=y, stroke=stroke, strokeDash=dash),
        alt.Chart(alt.NamedData(f"marks-{name}"))
        .mark_point(size=110, opacity=1, stroke="var(--surface)", strokeWidth=1.5)
        .encode(x=x, y=y, fill=fill, shape=shape, description=tip),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
