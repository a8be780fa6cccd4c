"""The scatter of tasks: how hard each is, how sharply it tells models apart, and which ones an audit flagged."""

from collections import Counter

from markupsafe import Markup

from agenthard.audit.statistics import Estimate, Result, Undefined
from agenthard.reports.cleaning.figure_data import ItemMap, ItemPoint
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.kit.figure import Figure, Key, Mark, draw
from agenthard.reports.kit.text import amount, number, sentence

TITLE = "Difficulty and discrimination of each task"
MARKS = {
    "clear": ("○", "circle", "grey", "no confirmed or suspected finding"),
    "flagged": ("▲", "triangle-up", "blue", "a finding, kept or in review"),
    "dropped": ("■", "square", "vermillion", "a finding, dropped"),
}
"""Kind of task → glyph of the legend, shape in the drawing, colour, words."""


def difficulty_scatter(analysis: CleaningAnalysis) -> Figure:
    """Draw every task with a difficulty and a discrimination, the flagged ones marked by shape and colour.

    Args:
        analysis: the analysis.

    Returns:
        The figure, with one row of data per task.
    """
    columns = (
        *("task", "category", "difficulty", "difficulty_se", "discrimination", "discrimination_se"),
        *("flagged", "decision"),
    )
    items = analysis.items
    if isinstance(items, Undefined):
        return Figure("difficulty", TITLE, "", "", reason=items.reason, columns=columns)
    rows = [
        (
            *(point.task_id, point.category, number(point.difficulty), _error(point.difficulty)),
            *(number(point.discrimination), _error(point.discrimination), point.flagged, point.decision),
        )
        for point in items.points
    ]
    shown = [p for p in items.points if isinstance(p.difficulty, Estimate) and isinstance(p.discrimination, Estimate)]
    if not shown:
        reason = f"undefined because no task has both numbers; {items.left_out:,} were left out"
        return Figure("difficulty", TITLE, "", "", reason=reason, columns=columns, rows=rows)
    errors = any(_error(point.difficulty) is not None for point in shown)
    counts = Counter(_kind(point) for point in shown)
    below = Counter(_kind(point) for point in shown if (number(point.discrimination) or 0) < 0)
    words = ", ".join(f"{below[kind]:,} of {counts[kind]:,} with {MARKS[kind][3]}" for kind in MARKS if counts[kind])
    return Figure(
        id="difficulty",
        title=TITLE,
        caption=f"n = {len(shown):,} tasks, {items.models} models; {items.left_out:,} tasks left out. "
        f"{sentence(items.method)} Below zero, where weaker models do better than stronger ones: {words}. "
        f"Nothing here is drawn at random{'; pointing at a task shows its standard errors' if errors else ''}.",
        alt=f"Scatter of {len(shown):,} tasks by difficulty and discrimination. With negative discrimination: {words}.",
        svg=_drawn(items, shown),
        keys=tuple(
            Key(glyph, colour, f"{meaning} ({counts[kind]:,})")
            for kind, (glyph, _, colour, meaning) in MARKS.items()
            if counts[kind]
        ),
        columns=columns,
        rows=rows,
    )


def _kind(point: ItemPoint) -> str:
    return "dropped" if point.decision == "drop" else "flagged" if point.flagged else "clear"


def _error(result: Result) -> float | None:
    return result.standard_error if isinstance(result, Estimate) else None


def _drawn(items: ItemMap, shown: list[ItemPoint]) -> Markup:
    import altair as alt

    tasks: dict[str, list[Mark]] = {kind: [] for kind in MARKS}
    for point in shown:
        kind = _kind(point)
        tasks[kind].append(
            {
                "x": number(point.difficulty),
                "y": number(point.discrimination),
                "tip": f"{point.task_id}\n{point.category}\ndifficulty {_with_error(point.difficulty)}\n"
                f"discrimination {_with_error(point.discrimination)}\n{MARKS[kind][3]}",
            }
        )
    x = (
        alt.X("x:Q", title="difficulty (harder to the right)")
        .scale(zero=False, nice=True)
        .axis(grid=False, tickCount=8)
    )
    y = alt.Y("y:Q", title="discrimination").scale(nice=True).axis(tickCount=6)
    layers: list[alt.Chart] = [
        alt.Chart(alt.NamedData("zero")).mark_rule(stroke="var(--ink)", strokeWidth=1).encode(y=alt.Y("y:Q"))
    ]
    for kind, (_, shape, colour, _) in MARKS.items():
        hollow = kind == "clear"
        mark = alt.MarkDef(
            type="point",
            shape=shape,
            size=26 if hollow else 60,
            opacity=0.8,
            stroke=f"var(--{colour})" if hollow else "var(--surface)",
            strokeWidth=1,
            fill="transparent" if hollow else f"var(--{colour})",
        )
        layers.append(alt.Chart(alt.NamedData(kind), mark=mark).encode(x=x, y=y, description=alt.Description("mark:N")))
    return draw(alt.layer(*layers).properties(width=960, height=420), {"zero": [{"y": 0}], **tasks})


def _with_error(result: Result) -> str:
    if isinstance(result, Undefined):
        return result.reason
    error = "" if result.standard_error is None else f" ± {result.standard_error:.2f}"
    return amount(result.value, "logit") + error
