"""Lines over the levels of one factor: scores where there is one factor, slices of two, and the declared measures."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TypeVar

from agenthard.audit.statistics import Estimate, wilson
from agenthard.reports.evaluation.analysis import EvaluationAnalysis
from agenthard.reports.evaluation.cells import Cell, HeatMap
from agenthard.reports.figures.evaluation.charts import Axes, Point, Style, keys, small_multiples
from agenthard.reports.kit.figure import Figure, short
from agenthard.reports.kit.text import amount, plural, span
from agenthard.taxonomy.declared import Factor, Measure

LOOKS = (
    ("●", "circle", "blue"),
    ("▲", "triangle-up", "vermillion"),
    ("■", "square", "green"),
    ("◆", "diamond", "reddish"),
    ("✚", "cross", "grey"),
)
"""Looks of series; of more, the data below the figure hold all."""
T = TypeVar("T")
MOST_PANELS = 36
"""Panels of a figure; the data hold all."""
PERCENT = (0.0, 100.0)

NO_VERDICT = "undefined because no episode has a verdict"


def _has_points(panels: Mapping[str, Mapping[str, Sequence[Point]]]) -> bool:
    return any(points for panel in panels.values() for points in panel.values())


def score_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw the score against the only factor, a panel per condition and a line per agent or published model."""
    factors = analysis.declared.factors
    title = f"Score by {factors[0].label}" if factors else "Score by cell"
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    reference = [grid for grid in analysis.heat_maps if grid.cells] if factors else []
    names = [_name(grid) for grid in reference]
    shown = _shown(names)
    several = [("reference" if analysis.conditions else "all episodes", reference)]
    several += [(each.condition, list(each.heat_maps)) for each in analysis.conditions if factors]
    for condition, maps in several:
        for grid in maps:
            for cell in grid.cells:
                rows.append((condition, grid.agent, grid.published, *cell.levels.values(), *_counted(cell)))
            if _name(grid) in shown:
                points = list(_points(grid.cells, factors[0], _name(grid)))
                panels.setdefault(condition, {name: [] for name in shown})[_name(grid)] = points
    if not reference:
        of = f"no episode says its {factors[0].title}" if factors else "the tasks have no factor"
        return Figure("cells", title, "", "", reason=f"undefined because {of}")
    if not _has_points(panels):
        return Figure("cells", title, "", "", reason=NO_VERDICT)
    styles = _styles(shown)
    return Figure(
        id="cells",
        title=title,
        caption="Percent of episodes with a verdict that passed, with Wilson’s 95 % interval, as if episodes were "
        f"independent.{_left(names, shown, 'line')} Published results are marked * and have their own n.",
        alt=f"Score against {factors[0].label} in {plural(len(panels), 'panel')}, "
        f"{plural(len(shown), 'line')} each: {', '.join(shown)}.",
        svg=small_multiples(panels, styles, Axes(factors[0].title, "episodes passed, %", PERCENT)),
        keys=keys(styles),
        columns=("condition", "agent", "published", factors[0].name, "passed", "n", "share", "low", "high"),
        rows=rows,
    )


def slice_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw the score against each of two factors while the other one is held at a level, per condition and agent."""
    title, factors = "Slices: one factor held at a level", analysis.declared.factors[:2]
    maps = [("", grid) for grid in analysis.heat_maps if grid.cells]
    maps += [(each.condition, grid) for each in analysis.conditions for grid in each.heat_maps if grid.cells]
    if len(factors) < 2 or not maps:
        why = "the tasks do not have two factors" if len(factors) < 2 else "no episode says its cell"
        return Figure("slices", title, "", "", reason=f"undefined because {why}")
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    axes: dict[str, Axes] = {}
    styles: dict[str, Style] = {}
    for across, held in (factors[::-1], factors):
        levels = sorted({cell.levels[held.name] for _, grid in maps for cell in grid.cells})
        ours = sorted({cell.levels[held.name] for _, grid in maps if not grid.published for cell in grid.cells})
        series = {f"{held.letter} = {level}": level for level in _spread(ours or levels)}
        styles |= {name: Style(*look, f"at {name}") for name, look in zip(series, LOOKS, strict=False)}
        for condition, grid in maps:
            name = ", ".join(filter(None, (f"{across.letter}: {_name(grid)}", condition)))
            at = {level: [c for c in grid.cells if c.levels[held.name] == level] for level in levels}
            rows += [
                (condition, grid.agent, grid.published, across.name, held.name, level, c.levels[across.name])
                + _counted(c)
                for level, cells in at.items()
                for c in cells
            ]
            panels[name] = {key: list(_points(at[level], across, key)) for key, level in series.items()}
            axes[name] = Axes(across.title, "episodes passed, %", PERCENT)
    drawn = {name: panel for name, panel in panels.items() if _has_points({name: panel})}
    if not drawn:
        return Figure("slices", title, "", "", reason=NO_VERDICT)
    drawn = dict(list(drawn.items())[:MOST_PANELS])
    both = " and ".join(factor.letter for factor in factors)
    return Figure(
        id="slices",
        title=title,
        caption=f"Percent of episodes with a verdict that passed, with Wilson’s 95 % interval; of {both}, one is held "
        f"at the level of the legend.{_left(list(panels), list(drawn), 'panel')} The data hold all levels.",
        alt=f"Score against one of {both} while the other is held, in {plural(len(drawn), 'panel')}.",
        svg=small_multiples(drawn, styles, axes),
        keys=keys(styles),
        columns=("condition", "agent", "published", "against", "held", "held_at", "level")
        + ("passed", "n", "share", "low", "high"),
        rows=rows,
    )


def measure_lines(analysis: EvaluationAnalysis) -> Figure:
    """Draw every declared measure against the first factor, a panel per measure and condition, a line per agent."""
    title, declared = "The benchmark’s own measures", analysis.declared
    columns = ("measure", "condition", "agent", "level", "value", "low", "high", "n", "of")
    agents = [row.agent for row in analysis.board]
    shown = _shown(agents)
    rows: list[tuple[object, ...]] = []
    panels: dict[str, dict[str, list[Point]]] = {}
    of_panel: dict[str, Measure] = {}
    for measure in declared.measures:
        for point in (p for p in analysis.measures if p.measure == measure.name):
            mean, level = point.mean, point.levels[declared.factors[0].name]
            if not isinstance(mean, Estimate):
                rows.append((measure.name, point.condition, point.agent, level, None, None, None, 0, 0))
                continue
            rows.append((measure.name, point.condition, point.agent, level, mean.value, mean.low, mean.high))
            rows[-1] += (mean.n, mean.of)
            if point.agent in shown:
                name = ": ".join(filter(None, (point.condition, measure.label)))
                of_panel[name] = measure
                line = panels.setdefault(name, {agent: [] for agent in shown})[point.agent]
                line.append(_measured(level, mean, measure, point.agent))
    if not panels:
        why = "no episode has a measure" if declared.measures else "the benchmark declares none"
        return Figure("measures", title, "", "", reason=f"undefined because {why}")
    styles = _styles(shown)
    axes = {name: _axes(declared.factors[0], measure, panels[name]) for name, measure in of_panel.items()}
    return Figure(
        id="measures",
        title=title,
        caption=f"Percentile intervals of {analysis.about.resamples:,} resamples of tasks, seed {analysis.about.seed}. "
        "An episode without a value does not count; where none has one, no point is drawn. "
        f"{_which_way(declared.measures)}{_left(agents, shown, 'agent')}",
        alt=f"{plural(len(panels), 'panel')} of measures against {declared.factors[0].label}: {', '.join(panels)}.",
        svg=small_multiples(panels, styles, axes),
        keys=keys(styles),
        columns=columns,
        rows=rows,
    )


def _which_way(measures: Iterable[Measure]) -> str:
    words = {"higher": "Higher is better", "lower": "Lower is better", "neither": "No way is better"}
    found: dict[str, list[str]] = {}
    for measure in measures:
        found.setdefault(measure.better, []).append(measure.label)
    return " ".join(f"{words[way]}: {', '.join(labels)}." for way, labels in found.items())


def _axes(factor: Factor, measure: Measure, series: dict[str, list[Point]]) -> Axes:
    if measure.unit == "share":
        return Axes(factor.title, "%", PERCENT)
    most = max((end for line in series.values() for p in line for end in (p.y, p.high or 0)), default=1.0)
    return Axes(factor.title, "mean", (0.0, float(4 * max(ceil(most / 4), 1))))


def _measured(level: int, mean: Estimate, measure: Measure, agent: str) -> Point:
    scale = 100 if measure.unit == "share" else 1
    low, high = (None if end is None else scale * end for end in (mean.low, mean.high))
    interval = "" if low is None or high is None else f" ({low:,.1f}–{high:,.1f})"
    tip = f"{agent}, {level}\n{scale * mean.value:,.1f}{interval}, n = {mean.n:,} of {mean.of:,}"
    return Point(level, scale * mean.value, low, high, tip)


def _points(cells: Sequence[Cell], factor: Factor, series: str) -> Iterable[Point]:
    for cell in sorted(cells, key=lambda c: c.levels[factor.name]):
        if cell.share is not None:
            low, high = wilson(cell.passed, cell.scored)
            level = cell.levels[factor.name]
            said = f"{amount(cell.share, 'share')} ({span(low, high, 'share')}), {cell.passed:,} of {cell.scored:,}"
            tip = f"{series}, {factor.letter} = {level}\n{said}"
            yield Point(level, 100 * cell.share, 100 * low, 100 * high, tip)


def _counted(cell: Cell) -> tuple[object, ...]:
    ends = wilson(cell.passed, cell.scored) if cell.scored else (None, None)
    return (cell.passed, cell.scored, cell.share, *ends)


def _name(grid: HeatMap) -> str:
    return f"{grid.agent}{' *' if grid.published else ''}"


def _shown(names: Sequence[str]) -> list[str]:
    return _spread(list(dict.fromkeys(names)))


def _spread(values: list[T]) -> list[T]:
    """Choose as many as there are looks, from the first to the last."""
    if len(values) <= len(LOOKS):
        return values
    step = (len(values) - 1) / (len(LOOKS) - 1)
    return [values[round(i * step)] for i in range(len(LOOKS))]


def _left(names: Sequence[str], shown: Sequence[str], what: str) -> str:
    left = len(set(names)) - len(shown)
    return f" {plural(left, f'more {what}')} in the data." if left > 0 else ""


def _styles(names: Sequence[str]) -> dict[str, Style]:
    return {name: Style(*look, short(name, 40)) for name, look in zip(names, LOOKS, strict=False)}
