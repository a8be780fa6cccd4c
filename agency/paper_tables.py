"""The tables of the paper from runs: scores, passes, scaffolds, effort, and calls of tools."""

from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

from agenthard.agency.metrics import average
from agenthard.agency.paper import (
    PaperCheck,
    PublishedMeasure,
    PublishedRow,
    checks_against,
    checks_by_capability,
    checks_within,
)
from agenthard.agency.run_groups import OTHER, TOOL_GROUPS, RunGroup, capabilities_of, group_of
from agenthard.audit.sources.agencybench.figures import ScenarioAttempts


class PaperTable(NamedTuple):
    """One table; a number that does not exist is None."""

    title: str
    """What it shows, with the number of the paper's table."""
    columns: tuple[str, ...]
    """Heads."""
    rows: list[tuple[Any, ...]]
    """Cells."""
    note: str
    """Units, and what an empty cell means."""


def paper_tables(groups: Sequence[RunGroup]) -> list[PaperTable]:
    """Lay out the tables 2, 3, 4, 5, 7 and 8 of the paper.

    Args:
        groups: the runs of each agent and condition.
    """
    return [_scores(groups), _passes(groups), _scaffolds(groups), _effort(groups), _rounds(groups), _calls(groups)]


def _scores(groups: Sequence[RunGroup]) -> PaperTable:
    names = capabilities_of(groups)
    rows = []
    for group in groups:
        found = group.measures
        parts = [[each for each in group.scenarios if each.capability == name] for name in names]
        low, high = found.interval or (None, None)
        rows.append(
            (group.name, *(average(part, "scenario", "last") if part else None for part in parts))
            + (found.s_avg, low, high, found.s_avg_valid, 100 * found.failure_rate, found.scenarios, found.tasks)
        )
    return PaperTable(
        "Table 2: scores by capability",
        ("run", *names, "S_avg", "low", "high", "S_avg valid", "failed %", "scenarios", "tasks"),
        rows,
        "0 to 100, mean over scenarios of the last attempts; low and high: 95 % bootstrap over scenarios. Failed: "
        "attempts without work or without a score, which S_avg counts and “valid” leaves out.",
    )


def _passes(groups: Sequence[RunGroup]) -> PaperTable:
    most = max((len(group.measures.pass_scenario) for group in groups), default=0)
    rows = []
    for group in groups:
        found = group.measures
        by_scenario, by_task = (_percents(shares, most) for shares in (found.pass_scenario, found.pass_task))
        rise = None if found.rise is None else 100 * found.rise
        rows.append((group.name, found.att, *by_scenario, rise, *by_task, found.scenarios))
    return PaperTable(
        "Table 3: attempts and passes",
        (
            *("run", "Att"),
            *(f"Pass@{k} %" for k in range(1, most + 1)),
            "Rise %",
            *(f"Pass@{k} by task %" for k in range(1, most + 1)),
            "scenarios",
        ),
        rows,
        "Pass@k: share of the scenarios with a mean of 60 % or more after k attempts, as the paper's table counts; by "
        "task: its equation 2. Attempt 1 has had no feedback, attempt 2 one round. Rise is empty where nothing passes "
        "at once.",
    )


def _percents(shares: Sequence[float], most: int) -> list[float | None]:
    return [100 * shares[k] if k < len(shares) else None for k in range(most)]


def _scaffolds(groups: Sequence[RunGroup]) -> PaperTable:
    scaffolds = list(dict.fromkeys(group.scaffold or "" for group in groups))
    cells = {(group.models[0], group.scaffold or ""): group.measures.s_avg for group in groups}
    models = list(dict.fromkeys(group.models[0] for group in groups))
    return PaperTable(
        "Table 4: models by scaffolds",
        ("model", *(name or "not stated" for name in scaffolds)),
        [(model, *(cells.get((model, name)) for name in scaffolds)) for model in models],
        "S_avg. Empty: no run of that pair. Where other conditions differ as well, the last run of a pair is shown.",
    )


def _effort(groups: Sequence[RunGroup]) -> PaperTable:
    rows = [
        (group.name, group.million_tokens, _per_scenario(group, group.turns), group.hours)
        + (group.measures.e_att, group.measures.e_tok)
        for group in groups
    ]
    return PaperTable(
        "Table 5: effort and efficiency",
        ("run", "million tokens", "turns", "hours", "E_att", "E_tok"),
        rows,
        "Per scenario. Tokens of the agent only, prompts and replies; turns: replies with a call. E_att: S_avg by "
        "attempts per task; E_tok: S_avg by million tokens. Empty: the log does not count it.",
    )


def _per_scenario(group: RunGroup, count: int | None) -> float | None:
    return None if count is None else count / len(group.scenarios)


def _rounds(groups: Sequence[RunGroup]) -> PaperTable:
    most = max((len(group.measures.pass_scenario) for group in groups), default=0)
    rows = [
        (group.models[0], group.scaffold, *(_after(group.scenarios, k) for k in range(1, most + 1)))
        + (group.measures.att, _per_scenario(group, group.calls.total() or None))
        for group in groups
    ]
    return PaperTable(
        "Table 7: scaffolds by attempts",
        ("model", "scaffold", *(f"Avg({k})" for k in range(1, most + 1)), "Att", "calls"),
        rows,
        "Avg(k): mean score after k attempts; calls per scenario, as far as the log shows them.",
    )


def _after(scenarios: Sequence[ScenarioAttempts], limit: int) -> float:
    return mean(each.last(limit) for each in scenarios)


def _calls(groups: Sequence[RunGroup]) -> PaperTable:
    totals = {name for group in groups for name in group.calls}
    order = [*TOOL_GROUPS, OTHER]
    names = sorted(totals, key=lambda name: (order.index(group_of(name)), name))
    rows: list[tuple[Any, ...]] = [
        (group_of(name), name, *(group.calls.get(name, 0) for group in groups)) for name in names
    ]
    text = [group.name for group in groups if group.calls_are_text]
    cut = f" Of {', '.join(text)} the logs show calls as text only, and may lack some." if text else ""
    return PaperTable(
        "Table 8: calls of tools", ("group", "tool", *(group.name for group in groups)), rows, f"Calls.{cut}"
    )


def tool_shares(groups: Sequence[RunGroup]) -> PaperTable:
    """Lay out what the paper's figure 5 draws: the share of each group of tools in all calls of a run."""
    rows = [
        (group.name, name, 100 * share) for group in groups for name, share in (group.shares() or {}).items() if share
    ]
    return PaperTable(
        "Figure 5: shares of tools", ("run", "group", "share %"), rows, "Of all calls that the log shows."
    )


def compared(
    groups: Sequence[RunGroup], rows: Sequence[PublishedRow], figures: Sequence[PublishedMeasure]
) -> tuple[PaperTable, PaperTable]:
    """Compare runs with what is published for the same model, and the published numbers with each other.

    Args:
        groups: the runs.
        rows: published rows.
        figures: further published numbers.

    Returns:
        The published numbers against the runs, and the numbers that follow from others.
    """
    ours: list[tuple[Any, ...]] = []
    for group in groups:
        for row in rows:
            if row.model in group.models and len(group.measures.pass_scenario) > 1:
                checks = (*checks_by_capability(row, _by_capability(group)), *checks_against(row, group.measures))
                ours += [(group.name, row.model, *_cells(check)) for check in checks]
        for figure in figures:
            value = _same_measure(group, figure.measure)
            if figure.model in group.models and value is not None:
                ours.append((group.name, figure.model, figure.measure, f"{figure.value:g}", f"{value:.4g}", None))
    within = [(row.model, *_cells(check)) for row in rows for check in checks_within(row)]
    known = {row.model for row in rows}
    within += [
        (
            figure.model,
            f"{figure.measure}: not checked, its parts are not among the rows",
            f"{figure.value:g}",
            None,
            None,
        )
        for figure in figures
        if figure.model not in known
    ]
    columns = ("what", "printed", "computed", "equal")
    return (
        PaperTable(
            "Compared with the paper",
            ("run", "model", *columns),
            ours,
            "Equal: to the printed digit; empty where the run is another one than the paper's, or is logged in part.",
        ),
        PaperTable(
            "Checks within the paper",
            ("model", *columns),
            within,
            "Whether a printed number follows from other printed ones.",
        ),
    )


def _by_capability(group: RunGroup) -> dict[str, float]:
    names = {each.capability for each in group.scenarios}
    return {name: mean(each.last() for each in group.scenarios if each.capability == name) for name in names}


def _cells(check: PaperCheck) -> tuple[Any, ...]:
    return check.name, f"{check.printed:g}", f"{check.computed:.4g}", "yes" if check.holds else "no"


def _same_measure(group: RunGroup, measure: str) -> float | None:
    if measure == "E_att":
        return group.measures.e_att
    if measure == "E_tok":
        return group.measures.e_tok
    shares = group.shares() or {}
    name = measure.removesuffix(" share %")
    return 100 * shares[name] if name in shares else None
