"""Separability against the number of tasks: pairs of models that a split separates, compared with random subsets."""

from markupsafe import Markup

from agenthard.audit.statistics import Estimate, NullBand, Undefined
from agenthard.reports.cleaning.figure_data import SeparabilityCurve
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.splits import TITLES, SplitName
from agenthard.reports.kit.figure import Figure, Key, Mark, draw
from agenthard.reports.kit.text import amount, result_text, sentence, span

TITLE = "Separability against the number of tasks"
MARKS: dict[SplitName, tuple[str, str, str]] = {
    "initial": ("●", "circle", "grey"),
    "cleaned": ("■", "square", "blue"),
    "hard": ("▲", "triangle-up", "vermillion"),
}
"""Split → glyph of the legend, shape in the drawing, colour."""


def separability_curve(analysis: CleaningAnalysis) -> Figure:
    """Draw the separability of the splits in the band that random subsets of the initial split give.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per point of the band and per split.
    """
    curve, made = analysis.separability_curve, analysis.provenance
    columns = ("what", "n", "separability", "low", "high", "draws")
    if isinstance(curve, Undefined):
        return Figure("separability", TITLE, "", "", reason=curve.reason, columns=columns)
    rows: list[tuple[object, ...]] = [
        ("random subsets", p.n, p.band.mean, p.band.low, p.band.high, p.band.draws) for p in curve.points
    ]
    for mark in curve.marks:
        value = mark.separability.value if isinstance(mark.separability, Estimate) else mark.separability.reason
        rows.append((TITLES[mark.split], mark.n, value, None, None, None))
    splits = "; ".join(f"{TITLES[m.split]} (n = {m.n:,}) {result_text(m.separability, '%')}" for m in curve.marks)
    shown = {m.split for m in curve.marks if isinstance(m.separability, Estimate)}
    draws = max((point.band.draws for point in curve.points), default=0)
    ends = ""
    if curve.points:
        first, last = curve.points[0], curve.points[-1]
        ends = f" Random subsets go from {_band(first.band)} at n = {first.n:,}"
        ends += f" to {_band(last.band)} at n = {last.n:,}."
    return Figure(
        id="separability",
        title=TITLE,
        caption=f"{sentence(splits)} The band holds 5–95 % of {draws:,} random subsets of the initial split per size. "
        f"{SELECTED if 'hard' in shown else ''}{sentence(curve.method)} {100 * made.level:g} % intervals. "
        f"Seed {made.seed}.",
        alt=f"Separability in percent of all pairs against the number of tasks. {splits}.{ends}",
        svg=_drawn(curve),
        keys=(
            *(Key(MARKS[split][0], MARKS[split][2], TITLES[split]) for split in MARKS if split in shown),
            Key("▬", "band", "5–95 % of random subsets, with their mean"),
        ),
        columns=columns,
        rows=rows,
    )


SELECTED = "The hard split was selected on these outcomes, so the band is not a null for it. "


def _band(band: NullBand) -> str:
    assert band.low is not None and band.high is not None, "only an indicator has no band"
    return span(band.low, band.high, "%")


def _drawn(curve: SeparabilityCurve) -> Markup:
    import altair as alt

    band: list[Mark] = [
        {
            "n": p.n,
            "mean": p.band.mean,
            "low": p.band.low,
            "high": p.band.high,
            "tip": f"random subsets of {p.n:,} tasks\nmean {amount(p.band.mean, '%')}, 5–95 % "
            f"{_band(p.band)}\n{p.band.draws:,} of {p.band.of_draws:,} draws",
        }
        for p in curve.points
    ]
    marks: list[Mark] = [
        {
            "n": m.n,
            "value": m.separability.value,
            "label": f"{TITLES[m.split]} {amount(m.separability.value, '%')}",
            "shape": MARKS[m.split][1],
            "colour": f"var(--{MARKS[m.split][2]})",
            "tip": f"{TITLES[m.split]}, n = {m.n:,}\nseparability {result_text(m.separability, '%')}",
        }
        for m in curve.marks
        if isinstance(m.separability, Estimate)
    ]
    x = alt.X("n:Q", title="tasks (n)").scale(nice=True, zero=False).axis(grid=False, tickCount=8, format=",d")
    title = "pairs told apart, %"
    ground = alt.Chart(alt.NamedData("band")).encode(x=x)
    above = alt.Chart(alt.NamedData("marks")).encode(
        x=x, y=alt.Y("value:Q", title=title), description=alt.Description("mark:N")
    )
    fill = alt.Fill("colour:N", scale=None)
    layers = [
        ground.mark_area(fill="var(--band)").encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")),
        ground.mark_line(stroke="var(--muted)", strokeWidth=1.5, strokeDash=[5, 4]).encode(y=alt.Y("mean:Q")),
        ground.mark_point(size=30, fill="var(--muted)", strokeWidth=0, opacity=1).encode(
            y=alt.Y("mean:Q"), description=alt.Description("mark:N")
        ),
        above.mark_point(size=150, opacity=1, stroke="var(--surface)", strokeWidth=1.5).encode(
            fill=fill, shape=alt.Shape("shape:N", scale=None)
        ),
        *(
            alt.Chart(alt.NamedData(name))
            .mark_text(align="right", dx=-12, dy=dy, fontWeight=600, stroke="var(--surface)", strokeWidth=4)
            .encode(x=x, y=alt.Y("value:Q"), text=alt.Text("label:N"), description=alt.Description("mark:N"))
            for name, dy in (("labels above", -10), ("labels below", 12))
        ),
    ]
    return draw(
        alt.layer(*layers).properties(width=860, height=320),
        {"band": band, "marks": marks, "labels above": marks[::2], "labels below": marks[1::2]},
    )
