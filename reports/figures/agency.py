"""Figures of AgencyBench's paper: efficiency by run, and shares of tools."""

from collections.abc import Mapping, Sequence

from agenthard.reports.figures.evaluation.charts import Entry, forest
from agenthard.reports.kit.figure import COUNTED, Figure

_SHAPES = {"shell": "circle", "file": "square", "memory": "diamond", "web": "triangle-up"}
_COLOURS = {"shell": "blue", "file": "vermillion", "memory": "green", "web": "reddish"}


def efficiency_figure(rows: Sequence[tuple[str, float, float | None]]) -> Figure:
    """Draw figure 4: score by attempts, and by million tokens where the log counts them.

    Args:
        rows: run, E_att and E_tok.
    """
    entries = []
    for name, e_att, e_tok in rows:
        entries.append(Entry(f"{name}: E_att", e_att, None, None, f"{e_att:.1f}", f"S_avg by attempts: {e_att:.1f}"))
        if e_tok is not None:
            text = f"S_avg by million tokens: {e_tok:.1f}"
            entries.append(Entry(f"{name}: E_tok", e_tok, None, None, f"{e_tok:.1f}", text, "square", "vermillion"))
    highest = max((entry.value for entry in entries), default=0) or 1
    return Figure(
        id="efficiency",
        title="Figure 4: efficiency",
        caption=f"E_att: S_avg by attempts per task; E_tok: S_avg by million tokens of the agent. {COUNTED}",
        alt="One line per run and kind of efficiency; further right is more score for the effort.",
        svg=forest(entries, "score by effort", (0, 1.1 * highest)) if entries else None,
        reason="" if entries else "no run has a score",
        columns=("run", "E_att", "E_tok"),
        rows=list(rows),
    )


def shares_figure(rows: Sequence[tuple[str, Mapping[str, float], int]], groups: Sequence[str]) -> Figure:
    """Draw figure 5: the share of each group of tools in the calls of a run.

    Args:
        rows: run, share of each group, and number of calls.
        groups: the groups, in order.
    """
    entries = [
        Entry(
            f"{name}: {group}",
            100 * shares[group],
            None,
            None,
            f"{shares[group]:.1%}",
            f"{shares[group]:.1%} of {calls} calls",
            _SHAPES.get(group, "cross"),
            _COLOURS.get(group, "grey"),
        )
        for name, shares, calls in rows
        for group in groups
        if shares.get(group)
    ]
    return Figure(
        id="tools",
        title="Figure 5: shares of tools",
        caption=f"Of all calls that the log shows. {COUNTED}",
        alt="One line per run and group of tools; further right is a larger share of its calls.",
        svg=forest(entries, "share of calls, %", (0, 100)) if entries else None,
        reason="" if entries else "no log shows a call",
        columns=("run", "group", "share %"),
        rows=[(name, group, 100 * shares[group]) for name, shares, _ in rows for group in groups if shares.get(group)],
    )
