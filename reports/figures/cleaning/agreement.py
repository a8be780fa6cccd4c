"""Heat maps of how often each pair of models is right or wrong together, on every split."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor
from typing import TYPE_CHECKING

from markupsafe import Markup

from agenthard.reports.cleaning.figure_data import AgreementMap
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.splits import TITLES
from agenthard.reports.kit.figure import COUNTED, Figure, Key, Mark, draw, short
from agenthard.reports.kit.text import amount

if TYPE_CHECKING:
    import altair as alt

TITLE = "Agreement of each pair of models, before and after cleaning, and on the hard split"
SHADES = 8
"""Colours of the ramp, from --shade-0 (least agreement) to --shade-7."""
OTHER_INK_FROM = 5
"""First shade on which a number takes the other ink."""
SIDE = 960
"""Largest side of a map whose cells hold no numbers, in pixels."""
MOST_NUMBERED = 18
"""Largest number of models whose cells hold their number."""


@dataclass(frozen=True)
class Steps:
    """Equal steps of agreement, each with its shade."""

    start: float
    width: float
    count: int
    open_below: bool
    """Whether the first step also holds the few pairs below it."""

    @classmethod
    def spanning(cls, values: Sequence[float]) -> "Steps":
        """Take the finest steps of a round width that reach over the values with the shades there are.

        One model that fails everything would take all the shades, so one pair in twenty may be below the first step.
        """
        ordered = sorted(values)
        least, most = ordered[len(ordered) // 20], ordered[-1]
        for width in (0.01, 0.02, 0.05, 0.1, 0.125):
            first, last = floor(least / width + 1e-9), ceil(most / width - 1e-9)
            if last - first <= SHADES:
                break
        return cls(first * width, width, max(last - first, 1), ordered[0] < first * width)

    def shade(self, value: float) -> int:
        """Find the shade of an agreement."""
        step = min(max(int((value - self.start) / self.width + 1e-9), 0), self.count - 1)
        return SHADES - 1 - round((self.count - 1 - step) * (SHADES - 1) / max(self.count - 1, 1))

    def keys(self) -> tuple[Key, ...]:
        """Name every step for the legend."""
        keys = []
        for step in range(self.count):
            low, high = (100 * (self.start + k * self.width) for k in (step, step + 1))
            words = f"below {high:g} %" if step == 0 and self.open_below else f"{low:g}–{high:g} %"
            keys.append(Key("■", f"shade-{self.shade((low + high) / 200)}", words))
        return tuple(keys)


def agreement_maps(analysis: CleaningAnalysis) -> Figure:
    """Draw the agreement of all pairs on each split, on one scale.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per pair and a column per split.
    """
    columns = ("model", "other_model", *(f"{grid.split}_n_{grid.n}" for grid in analysis.agreement))
    table: dict[tuple[str, str], dict[str, float | None]] = {}
    for grid in analysis.agreement:
        for first, second, value in _pairs(grid):
            table.setdefault((first, second), {})[grid.split] = value
    rows = [(*pair, *(values.get(grid.split) for grid in analysis.agreement)) for pair, values in table.items()]
    maps = list(analysis.agreement)
    seen = [value for grid in maps for *_, value in _pairs(grid) if value is not None]
    if not seen:
        reason = "undefined because no two models have a score on a common task"
        return Figure("agreement", TITLE, "", "", reason=reason, columns=columns, rows=rows)
    steps, models = Steps.spanning(seen), len(maps[0].models)
    sizes = ", ".join(f"{TITLES[grid.split]} n = {grid.n:,}" for grid in maps)
    means = ", ".join(f"{TITLES[grid.split]} {_mean(grid)}" for grid in maps)
    return Figure(
        id="agreement",
        title=TITLE,
        caption=f"Share of common tasks on which both models are right or both wrong: {sizes}; {models} models, best "
        f"initial rank first. Mean over pairs: {means}. Less agreement tells models apart better. "
        f"{COUNTED}",
        alt=f"{len(maps)} heat maps of the agreement of {models} models ({sizes}). Pairs agree on "
        f"{amount(min(seen), 'share')} to {amount(max(seen), 'share')} of the tasks; mean over pairs: {means}.",
        svg=_drawn(maps, steps),
        keys=steps.keys(),
        columns=columns,
        rows=rows,
    )


def _pairs(grid: AgreementMap) -> list[tuple[str, str, float | None]]:
    pairs = combinations(range(len(grid.models)), 2)
    return [(grid.models[i], grid.models[j], grid.values[i][j]) for i, j in pairs]


def _mean(grid: AgreementMap) -> str:
    values = [value for *_, value in _pairs(grid) if value is not None]
    return amount(sum(values) / len(values), "share") if values else "undefined"


def _drawn(maps: list[AgreementMap], steps: Steps) -> Markup:
    import altair as alt

    models = max(len(grid.models) for grid in maps)
    cell = (26 if len(maps) < 3 else 24) if models <= MOST_NUMBERED else max(min(SIDE // models, 20), 8)
    in_row = len(maps) * models * cell <= 960 and len({grid.models for grid in maps}) == 1
    data: dict[str, list[Mark]] = {grid.split: _cells(grid, steps) for grid in maps}
    charts = []
    for i, grid in enumerate(maps):
        named = not in_row or i == 0
        data[f"{grid.split} names"] = _names(grid) if named else []
        charts.append(_map(grid, cell))
    return draw(alt.hconcat(*charts, spacing=28) if in_row else alt.vconcat(*charts, spacing=28), data)


def _map(grid: AgreementMap, cell: int) -> "alt.LayerChart | alt.FacetChart":
    import altair as alt

    models, size = len(grid.models), min(12, cell - 1)
    every = 1 if cell >= 18 else 5
    axis = alt.Axis(
        domain=False,
        ticks=False,
        title=None,
        labelFontSize=size,
        labelPadding=4,
        labelAngle=0,
        labelExpr=f"+datum.label % {every} == 0 ? datum.label : ''",
    )
    x = alt.X("column:O", axis=axis).scale(domain=list(range(1, models)))
    y = alt.Y("row:O", axis=None).scale(domain=list(range(2, models + 1)))
    cells = alt.Chart(alt.NamedData(grid.split)).encode(x=x, y=y, description=alt.Description("mark:N"))
    fill, ink = alt.Fill("fill:N", scale=None), alt.Fill("ink:N", scale=None)
    layers = [
        cells.mark_rect(stroke="var(--surface)", strokeWidth=1 if cell > 10 else 0.5).encode(fill=fill),
        alt.Chart(alt.NamedData(f"{grid.split} names"))
        .mark_text(align="right", dx=-6, fontSize=size)
        .encode(x=alt.value(0), y=y, text=alt.Text("label:N"), description=alt.Description("mark:N")),
    ]
    if models <= MOST_NUMBERED:
        layers.append(cells.mark_text(fontSize=11).encode(text=alt.Text("label:N"), fill=ink))
    side = (models - 1) * cell
    title = f"{TITLES[grid.split]}, n = {grid.n:,}"
    return alt.layer(*layers).properties(width=side, height=side, title=title)


def _names(grid: AgreementMap) -> list[Mark]:
    """Name the rows; the first model has none, because the map holds each pair once."""
    rows = enumerate(grid.models, 1)
    return [{"row": i, "label": f"{short(name)}\N{EN SPACE}{i}", "tip": name} for i, name in rows if i > 1]


def _cells(grid: AgreementMap, steps: Steps) -> list[Mark]:
    cells: list[Mark] = []
    for i in range(1, len(grid.models)):
        for j in range(i):
            value = grid.values[i][j]
            both = f"{grid.models[j]} and {grid.models[i]}"
            colours = {"fill": "var(--sunken)", "ink": "var(--muted)"}
            if value is not None:
                shade = steps.shade(value)
                ink = "var(--shade-ink)" if shade < OTHER_INK_FROM else "var(--shade-other-ink)"
                colours = {"fill": f"var(--shade-{shade})", "ink": ink}
            words = "no common task" if value is None else f"agree on {amount(value, 'share')}"
            text = "–" if value is None else f"{100 * value:.0f}"
            tip = f"{both}\n{words}"
            cells.append({"row": i + 1, "column": j + 1, "label": text, "tip": tip, **colours})
    return cells
