"""Success against what was spent on it, such as turns: one panel per size, one line per agent."""

from collections.abc import Sequence

from agenthard.reports.figures.evaluation.charts import Axes, Point, Style, keys, small_multiples
from agenthard.reports.figures.evaluation.lines import LOOKS
from agenthard.reports.kit.figure import Figure, short
from agenthard.reports.kit.text import plural, span


def step_lines(steps: Sequence[tuple[str, int, int, int, int, float, float]], unit: str, label: str) -> Figure:
    """Draw the share of episodes that passed within a number of turns, or whatever the unit is.

    Args:
        steps: agent, size, spent, passed within that, n, and the interval of the share.
        unit: what was spent.
        label: what the size counts.
    """
    title = f"Success against {unit}"
    if not steps:
        return Figure("spent", title, "", "", reason="undefined because no episode passed")
    names = list(dict.fromkeys(agent for agent, *_ in steps))
    shown = names[: len(LOOKS)]
    panels: dict[str, dict[str, list[Point]]] = {}
    for agent, size, spent, passed, n, low, high in steps:
        if agent in shown:
            panel = panels.setdefault(f"{size} {label}", {name: [] for name in shown})
            tip = f"{agent}, {spent} {unit}\n{100 * passed / n:.1f} % ({span(low, high, 'share')}), {passed} of {n}"
            panel[agent].append(Point(spent, 100 * passed / n, 100 * low, 100 * high, tip))
    panels = dict(sorted(panels.items(), key=lambda panel: int(panel[0].split()[0])))
    styles = {name: Style(*look, short(name, 40)) for name, look in zip(shown, LOOKS, strict=False)}
    left = f" {plural(len(names) - len(shown), 'more agent')} in the data." if len(names) > len(shown) else ""
    return Figure(
        id="spent",
        title=title,
        caption=f"Share of episodes that passed within a number of {unit}, with Wilson’s 95 % interval, from one "
        f"evaluation: an agent that was told of fewer {unit} might have played differently.{left}",
        alt=f"Share of episodes that passed against {unit} in {plural(len(panels), 'panel')}.",
        svg=small_multiples(panels, styles, Axes(unit, "episodes passed, %", (0.0, 100.0))),
        keys=keys(styles),
        columns=("agent", label, unit, "passed", "n", "low", "high"),
        rows=list(steps),
    )
