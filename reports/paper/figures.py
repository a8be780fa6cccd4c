"""Figures of the paper: those of the cleaning report, shares of flaws and failure modes, and the picture of prompts."""

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from markupsafe import Markup

from agenthard.audit.statistics import Estimate
from agenthard.reports.alignment.score import Alignment
from agenthard.reports.figures.cleaning import figures as cleaning_figures
from agenthard.reports.figures.cleaning.difficulty import MARKS
from agenthard.reports.kit.figure import COUNTED, Figure, Key, Mark, draw, short
from agenthard.reports.kit.text import amount, plural, result_text
from agenthard.reports.paper.label_tables import second_look_counts
from agenthard.reports.paper.material import RunMaterial

NUMBERS = {
    "disagreements": "Figure 3",
    "ranks": "Figure 6",
    "agreement": "Figure 4",
    "retention": "Figures 5, 7 and 8",
    "components": "Table 2",
    "components-by-task": "Table 2",
    "failure-modes": "Table 8",
}
"""Number in the paper by id of the figure; it has no others."""
_COLOURS = {"user": "reddish", "environment": "green", "evaluation": "vermillion", "ground_truth": "blue"}


def paper_figures(run: RunMaterial) -> dict[str, Figure]:
    """Draw all figures of one audit, by id.

    Args:
        run: the audit.
    """
    drawn = cleaning_figures(run.analysis)
    return drawn | {each.id: each for each in (component_tasks(run), prompt_picture(run))}


def component_tasks(run: RunMaterial) -> Figure:
    """Draw how many tasks have a flaw in each of their four parts."""
    title, total = "Tasks with a flaw in each of their parts", len(run.found.tasks)
    rows = [(part.component, part.tasks, part.tasks / total if total else None) for part in run.analysis.components]
    columns = ("component", "tasks", "share_of_tasks")
    if not any(tasks for _, tasks, _ in rows):
        reason = "undefined because no task is flagged"
        return Figure("components-by-task", title, "", "", reason=reason, columns=columns, rows=rows)
    bars = [
        (part.title, part.tasks, f"{plural(part.tasks, 'task')} ({amount(part.tasks / total, 'share')})")
        for part in run.analysis.components
    ]
    return Figure(
        id="components-by-task",
        title=title,
        caption=f"Confirmed and suspected findings, n = {total:,} tasks; a task can count for several parts. {COUNTED}",
        alt="Bar chart: " + "; ".join(f"{name} {words}" for name, _, words in bars) + ".",
        svg=_bars(bars, "tasks", [_COLOURS.get(part.component, "grey") for part in run.analysis.components]),
        columns=columns,
        rows=rows,
    )


def failure_mode_bars(alignment: Alignment) -> Figure:
    """Draw the shares of failure modes among the explained errors of a judge."""
    title = "Why the judge was wrong"
    found = alignment.failure_modes
    columns = ("error", "mode", "share")
    rows = [(r.error, r.mode, r.share.value if isinstance(r.share, Estimate) else None) for r in found.rows]
    bars = [
        (f"{row.mode} ({row.error})", 100 * row.share.value, f"{row.share.value * row.share.n:.0f} of {row.share.n}")
        for row in found.rows
        if isinstance(row.share, Estimate)
    ]
    if not bars:
        reason = "undefined because no error is explained; people name modes in the sheet of the second look"
        return Figure("failure-modes", title, "", "", reason=reason, columns=columns, rows=rows)
    explained = ", ".join(f"{found.explained[e]} of {found.errors[e]} {e}s" for e in found.errors)
    return Figure(
        id="failure-modes",
        title=title,
        caption=f"Share of the explained errors of a kind; explained: {explained}. An error can have several modes. "
        f"{COUNTED}",
        alt="Bar chart: " + "; ".join(f"{name} {words}" for name, _, words in bars) + ".",
        svg=_bars(bars, "% of the explained errors of the kind", ["blue"] * len(bars)),
        columns=columns,
        rows=rows,
    )


def disagreement_bars(alignment: Alignment) -> Figure:
    """Draw what became of the disagreements with the labels after a second look."""
    title, counts = "Disagreements with the labels after a second look", second_look_counts(alignment)
    total = sum(number for _, number in counts)
    columns = ("disagreement", "tasks")
    if not total:
        reason = "undefined because flags and labels agree on every task"
        return Figure("disagreements", title, "", "", reason=reason, columns=columns, rows=counts)
    bars = [(name, number, f"{plural(number, 'task')} ({amount(number / total, 'share')})") for name, number in counts]
    look = alignment.second_look
    return Figure(
        id="disagreements",
        title=title,
        caption=f"n = {plural(total, 'disagreement')}; {look.looked_again:,} of {look.wrong_at_first:,} flags that the "
        f"labels call wrong were looked at again. Precision {result_text(look.first, 'share')} by the first labels, "
        f"{result_text(look.later, 'share')} after the second look. Flaws in tasks without a flag stay unknown. "
        f"{COUNTED}",
        alt="Bar chart: " + "; ".join(f"{name} {words}" for name, _, words in bars) + ".",
        svg=_bars(bars, "tasks", ["green", "vermillion", "grey", "reddish"]),
        columns=columns,
        rows=counts,
    )


def prompt_picture(run: RunMaterial) -> Figure:
    """Draw the prompts in the two main directions of their embedding, flagged and dropped ones marked."""
    title = "Prompts by likeness, flagged and dropped ones marked"
    columns = ("task", "category", "x", "y", "decision")
    found = run.found
    rows = [
        (task.id, task.category, float(place[0]), float(place[1]), decision.action)
        for task, place, decision in zip(found.tasks, run.plane, found.decisions, strict=True)
    ]
    if not run.plane.any():
        reason = "undefined because fewer than three prompts have an embedding"
        return Figure("prompts", title, "", "", reason=reason, columns=columns, rows=rows)
    kinds = {task: _kind(task in found.flagged, action) for task, *_, action in rows}
    counts = {kind: sum(each == kind for each in kinds.values()) for kind in MARKS}
    words = ", ".join(f"{counts[kind]:,} with {MARKS[kind][3]}" for kind in MARKS if counts[kind])
    embedder = run.analysis.provenance.embedder
    return Figure(
        id="prompts",
        title=title,
        caption=f"n = {len(rows):,} prompts, embedded by {embedder}; the two directions in which they differ most "
        "(principal components of the unit vectors). Near prompts use alike words or mean alike things; the axes have "
        f"no unit, and two directions show only a part of the distances. {words.capitalize()}. {COUNTED}",
        alt=f"Scatter of {len(rows):,} prompts in two directions: {words}.",
        svg=_scatter(rows, kinds),
        keys=tuple(
            Key(glyph, colour, f"{meaning} ({counts[kind]:,})")
            for kind, (glyph, _, colour, meaning) in MARKS.items()
            if counts[kind]
        ),
        columns=columns,
        rows=rows,
    )


def _kind(flagged: bool, action: str) -> str:
    return "dropped" if action == "drop" else "flagged" if flagged else "clear"


def _scatter(rows: Sequence[tuple[str, str, float, float, str]], kinds: dict[str, str]) -> Markup:
    import altair as alt

    data: dict[str, list[Mark]] = {kind: [] for kind in MARKS}
    for task, category, x, y, action in rows:
        data[kinds[task]].append({"x": x, "y": y, "tip": f"{task}\n{category}\n{action}"})
    axes = [
        axis(f"{name}:Q", title=f"direction {number}").scale(zero=False, nice=True).axis(grid=False, tickCount=6)
        for number, (axis, name) in enumerate(((alt.X, "x"), (alt.Y, "y")), 1)
    ]
    layers = []
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
        chart = alt.Chart(alt.NamedData(kind), mark=mark)
        layers.append(chart.encode(x=axes[0], y=axes[1], description=alt.Description("mark:N")))
    return draw(alt.layer(*layers).properties(width=760, height=420), data)


def _bars(bars: Sequence[tuple[str, float, str]], axis: str, colours: Sequence[str]) -> Markup:
    import altair as alt

    marks: list[Mark] = [
        {"line": i, "end": value, "colour": f"var(--{colour})", "tip": f"{name}\n{words}"}
        for i, ((name, value, words), colour) in enumerate(zip(bars, colours, strict=True))
    ]
    ends: list[Mark] = [{"line": i, "end": value, "label": words} for i, (_, value, words) in enumerate(bars)]
    names: list[Mark] = [{"line": i, "label": short(name, 48), "tip": name} for i, (name, _, _) in enumerate(bars)]
    y, text, told = alt.Y("line:O", axis=None), alt.Text("label:N"), alt.Description("mark:N")
    x = alt.X("end:Q", title=axis).axis(grid=False, tickMinStep=1, tickCount=8).scale(zero=True)
    layers = [
        alt.Chart(alt.NamedData("bars"))
        .mark_bar(height=20)
        .encode(y=y, x=x, fill=alt.Fill("colour:N", scale=None), description=told),
        alt.Chart(alt.NamedData("ends"))
        .mark_text(align="left", dx=8)
        .encode(y=y, x=alt.X("end:Q"), text=text, description=told),
        alt.Chart(alt.NamedData("names"))
        .mark_text(align="right", dx=-8, fontSize=13)
        .encode(y=y, x=alt.value(0), text=text, description=told),
    ]
    chart = alt.layer(*layers).properties(width=560, height=36 * len(bars))
    return draw(chart, {"bars": marks, "ends": ends, "names": names})


@cache
def _light() -> dict[str, str]:
    """Colours of the light scheme by the name of their variable."""
    found: dict[str, str] = {}
    for name in ("base.css", "figures.css"):
        text = resources.files("agenthard.reports").joinpath("templates", name).read_text(encoding="utf-8")
        block = re.search(r"^:root \{(.*?)^\}", text, re.DOTALL | re.MULTILINE)
        found.update(re.findall(r"--([\w-]+): (#[0-9a-f]+);", block[1] if block else ""))
    return found


def svg_file(figure: Figure) -> str | None:
    """Return a figure as an SVG file of its own, in the light scheme; None without a drawing."""
    if figure.svg is None:
        return None
    colours = _light()
    text = re.sub(r"var\(--([\w-]+)\)", lambda found: colours.get(found[1], "#000000"), str(figure.svg))
    opening = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" style="background:#ffffff"'
    return text.replace("<svg", opening, 1) + "\n"
