"""Heat maps of the score over the first two factors, one per agent on one scale of colours."""

from collections.abc import Sequence

from markupsafe import Markup

from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.cells import Cell, HeatMap
from agenthard.reports.figures.evaluation.lines import score_lines
from agenthard.reports.kit.figure import Figure, Key, Mark, draw, short
from agenthard.reports.kit.text import amount, plural
from agenthard.taxonomy.declared import Factor

SHADES = 8
"""Colours of the ramp, from --shade-0 (0 %) to --shade-7 (100 %), in equal steps."""
OTHER_INK_FROM = 5
"""First shade on which a number takes the other ink."""
MOST_NUMBERED = 11
"""Largest number of columns whose cells hold their number."""
COLUMNS = 3


def score_maps(analysis: EvaluationAnalysis) -> Figure:
    """Draw the share of episodes that passed per cell, for every agent and every published model with cells."""
    factors = analysis.declared.factors[:2]
    title = f"Score by {' and '.join(factor.label for factor in factors) or 'cell'}"
    columns = ("agent", "published", *(factor.name for factor in factors), "passed", "n", "share")
    rows = [
        (grid.agent, grid.published, *c.levels.values(), c.passed, c.scored, c.share)
        for grid in analysis.heat_maps
        for c in grid.cells
    ]
    maps = [grid for grid in analysis.heat_maps if grid.cells]
    if len(factors) < 2:
        return score_lines(analysis)
    if not maps:
        of = " and ".join(factor.title for factor in factors)
        return Figure("cells", title, "", "", reason=f"undefined because no episode says its {of}")
    down, right = factors
    sizes = sorted({cell.scored for grid in maps if not grid.published for cell in grid.cells})
    n = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}" if sizes else "–"
    theirs = sum(grid.published for grid in maps)
    also = f" {plural(theirs, 'map')} of published results come last, with their own n." if theirs else ""
    return Figure(
        id="cells",
        title=title,
        caption=f"Percent of episodes with a verdict that passed; n = {n} per cell. A cell of few episodes says "
        f"little: at n = 6 the 95 % interval of 50 % reaches from 19 to 81 %. Counted, no seed.{also}",
        alt=f"{plural(len(maps), 'heat map')} of the share of episodes that passed, {down.label} downwards against "
        f"{right.label} to the right. {_extremes(maps)}",
        svg=_drawn(maps, down, right),
        keys=_keys(),
        columns=columns,
        rows=rows,
    )


def condition_maps(analysis: EvaluationAnalysis) -> Figure:
    """Draw the maps of every condition that is not the reference."""
    factors = analysis.declared.factors[:2]
    title = "Score by cell under the other conditions"
    maps = [
        grid.model_copy(update={"agent": f"{grid.agent}, {each.condition}"})
        for each in analysis.conditions
        for grid in each.heat_maps
        if grid.cells
    ]
    if len(factors) < 2 or not maps:
        why = "the tasks do not have two factors" if len(factors) < 2 else "there is one condition only"
        return Figure("conditions", title, "", "", reason=f"undefined because {why}")
    names = tuple(factor.name for factor in factors)
    return Figure(
        id="conditions",
        title=title,
        caption="Percent of episodes with a verdict that passed, as above, one map per agent and condition. "
        "Counted, no seed.",
        alt=f"{plural(len(maps), 'heat map')} of the share of episodes that passed. {_extremes(maps)}",
        svg=_drawn(maps, *factors),
        keys=_keys(),
        columns=("condition", "agent", *names, "passed", "n", "share"),
        rows=[
            (each.condition, grid.agent, *c.levels.values(), c.passed, c.scored, c.share)
            for each in analysis.conditions
            for grid in each.heat_maps
            for c in grid.cells
        ],
    )


def _extremes(maps: Sequence[HeatMap]) -> str:
    words = []
    for grid in maps:
        shares = [cell.share for cell in grid.cells if cell.share is not None]
        if shares:
            words.append(f"{grid.agent}: {amount(min(shares), 'share')} to {amount(max(shares), 'share')}")
    return "; ".join(words) + "."


def _shade(share: float) -> int:
    """Find the step of a share; 100 % belongs to the last one.

    >>> [_shade(share) for share in (0.0, 0.124, 0.125, 0.99, 1.0)]
    [0, 0, 1, 7, 7]
    """
    return min(int(share * SHADES), SHADES - 1)


def _keys() -> tuple[Key, ...]:
    step = 100 / SHADES
    return tuple(Key("■", f"shade-{i}", f"{i * step:g}–{(i + 1) * step:g} %") for i in range(SHADES))


def _drawn(maps: Sequence[HeatMap], down: Factor, right: Factor) -> Markup:
    import altair as alt

    rows, columns = (
        sorted({cell.levels[factor.name] for grid in maps for cell in grid.cells}) for factor in (down, right)
    )
    numbered = len(columns) <= MOST_NUMBERED
    side = 29 if numbered else max(290 // len(columns), 4)
    data: dict[str, list[Mark]] = {}
    charts = []
    for i, grid in enumerate(maps):
        data[f"cells {i}"] = [_mark(grid, cell, down, right) for cell in grid.cells]
        data[f"name {i}"] = [{"label": short(f"{grid.agent}{' *' if grid.published else ''}", 38), "tip": grid.agent}]
        quiet = alt.Axis(domain=False, ticks=False, labelAngle=0, labelPadding=4, titlePadding=4, labelOverlap=True)
        x = alt.X("right:O", title=right.title, axis=quiet).scale(domain=columns)
        y = alt.Y("down:O", title=down.title, axis=quiet).scale(domain=rows)
        cells = alt.Chart(alt.NamedData(f"cells {i}")).encode(x=x, y=y, description=alt.Description("mark:N"))
        layers = [
            cells.mark_rect(stroke="var(--surface)", strokeWidth=1 if numbered else 0.3).encode(
                fill=alt.Fill("fill:N", scale=None)
            ),
            alt.Chart(alt.NamedData(f"name {i}"))
            .mark_text(align="left", baseline="bottom", fontSize=13, fontWeight=600)
            .encode(x=alt.value(0), y=alt.value(-8), text=alt.Text("label:N"), description=alt.Description("mark:N")),
        ]
        if numbered:
            layers.append(
                cells.mark_text(fontSize=11).encode(text=alt.Text("label:N"), fill=alt.Fill("ink:N", scale=None))
            )
        charts.append(alt.layer(*layers).properties(width=side * len(columns), height=max(side, 12) * len(rows)))
    return draw(alt.concat(*charts, columns=COLUMNS, spacing=26), data)


def _mark(grid: HeatMap, cell: Cell, down: Factor, right: Factor) -> Mark:
    base = {"down": cell.levels[down.name], "right": cell.levels[right.name]}
    place = f"{down.letter} = {base['down']}, {right.letter} = {base['right']}"
    if cell.share is None:
        no = {"label": "–", "fill": "var(--sunken)", "ink": "var(--muted)"}
        return {**base, **no, "tip": f"{grid.agent}\n{place}\nno episode with a verdict"}
    shade = _shade(cell.share)
    return {
        **base,
        "label": f"{100 * cell.share:.0f}",
        "fill": f"var(--shade-{shade})",
        "ink": "var(--shade-ink)" if shade < OTHER_INK_FROM else "var(--shade-other-ink)",
        "tip": f"{grid.agent}\n{place}\n{amount(cell.share, 'share')} ({cell.passed:,} of {cell.scored:,})",
    }
