"""Heat maps of the score over hidden slots and decoy budget, one per agent on one scale of colours."""

from collections.abc import Sequence

from markupsafe import Markup

from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.cells import Cell, HeatMap
from agenthard.reports.kit.figure import Figure, Key, Mark, draw, short
from agenthard.reports.kit.text import amount, plural

TITLE = "Score by hidden slots and decoys"
SHADES = 8
"""Colours of the ramp, from --shade-0 (0 %) to --shade-7 (100 %), in equal steps."""
OTHER_INK_FROM = 5
"""First shade on which a number takes the other ink."""
MOST_NUMBERED = 11
"""Largest number of columns whose cells hold their number."""
COLUMNS = 3


def score_maps(analysis: EvaluationAnalysis) -> Figure:
    """Draw the share of episodes that passed per H and B, for every agent and every published model with cells."""
    columns = ("agent", "published", "hidden_slots", "decoy_budget", "passed", "n", "share")
    rows = [
        (grid.agent, grid.published, c.hidden_slots, c.decoy_budget, c.passed, c.scored, c.share)
        for grid in analysis.heat_maps
        for c in grid.cells
    ]
    maps = [grid for grid in analysis.heat_maps if grid.cells]
    if not maps:
        reason = "undefined because no episode says how many slots its task hides and how many decoys it has"
        return Figure("cells", TITLE, "", "", reason=reason)
    sizes = sorted({cell.scored for grid in maps if not grid.published for cell in grid.cells})
    n = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}" if sizes else "–"
    theirs = sum(grid.published for grid in maps)
    also = f" {plural(theirs, 'map')} of published results come last, with their own n." if theirs else ""
    return Figure(
        id="cells",
        title=TITLE,
        caption=f"Percent of episodes with a verdict that passed; n = {n} per cell. A cell of few episodes says "
        f"little: at n = 6 the 95 % interval of 50 % reaches from 19 to 81 %. Counted, no seed.{also}",
        alt=f"{plural(len(maps), 'heat map')} of the share of episodes that passed, hidden slots downwards against "
        f"decoys to the right. {_extremes(maps)}",
        svg=_drawn(maps),
        keys=_keys(),
        columns=columns,
        rows=rows,
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


def _drawn(maps: Sequence[HeatMap]) -> Markup:
    import altair as alt

    hidden = sorted({cell.hidden_slots for grid in maps for cell in grid.cells})
    budgets = sorted({cell.decoy_budget for grid in maps for cell in grid.cells})
    numbered = len(budgets) <= MOST_NUMBERED
    side = 29 if numbered else max(290 // len(budgets), 4)
    data: dict[str, list[Mark]] = {}
    charts = []
    for i, grid in enumerate(maps):
        data[f"cells {i}"] = [_mark(grid, cell) for cell in grid.cells]
        data[f"name {i}"] = [{"label": short(f"{grid.agent}{' *' if grid.published else ''}", 38), "tip": grid.agent}]
        quiet = alt.Axis(domain=False, ticks=False, labelAngle=0, labelPadding=4, titlePadding=4, labelOverlap=True)
        x = alt.X("budget:O", title="decoys (B)", axis=quiet).scale(domain=budgets)
        y = alt.Y("hidden:O", title="hidden slots (H)", axis=quiet).scale(domain=hidden)
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
        charts.append(alt.layer(*layers).properties(width=side * len(budgets), height=max(side, 12) * len(hidden)))
    return draw(alt.concat(*charts, columns=COLUMNS, spacing=26), data)


def _mark(grid: HeatMap, cell: Cell) -> Mark:
    place = f"H = {cell.hidden_slots}, B = {cell.decoy_budget}"
    base = {"hidden": cell.hidden_slots, "budget": cell.decoy_budget}
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
