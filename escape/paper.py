"""Further tables of the AgentEscapeBench paper from an evaluation: trials, success against turns, and people."""

from collections.abc import Iterable, Mapping
from typing import Any

from agenthard.audit.statistics import Estimate, pass_hat_k, wilson
from agenthard.escape.diagnostics import Row
from agenthard.escape.environment import budget_for
from agenthard.taxonomy.trajectory import Trajectory

Rows = list[tuple[Any, ...]]
FEWEST_CALLS = {5: 9.03, 10: 18.20, 15: 27.73, 20: 36.63}
"""The paper's mean of fewest calls by size (its Table 3)."""
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of the turns allowed at which success is told."""


def by_size(rows: Iterable[Row]) -> dict[tuple[str, int], list[Row]]:
    """Group the episodes with a verdict by agent, in the order of their first row, and size."""
    groups: dict[tuple[str, int], list[Row]] = {}
    order: dict[str, int] = {}
    for row in rows:
        if row["passed"] is not None:
            order.setdefault(row["agent"], len(order))
            groups.setdefault((row["agent"], int(row["nodes"])), []).append(row)
    return {key: groups[key] for key in sorted(groups, key=lambda key: (order[key[0]], key[1]))}


def trials(rows: Iterable[Row]) -> Rows:
    """Return pass^k by agent and size: the probability that k trials of a room all succeed, for k up to the trials."""
    found: Rows = []
    for (agent, nodes), group in by_size(rows).items():
        rooms: dict[str, list[bool]] = {}
        for row in group:
            rooms.setdefault(row["task_id"], []).append(bool(row["passed"]))
        counts = [(sum(each), len(each)) for each in rooms.values()]
        for k in range(1, max(n for _, n in counts) + 1):
            result = pass_hat_k(counts, k)
            if isinstance(result, Estimate):
                ends = (None if end is None else 100 * min(max(end, 0.0), 1.0) for end in (result.low, result.high))
                found.append((agent, nodes, k, 100 * result.value, *ends, sum(n >= k for _, n in counts), len(counts)))
    return found


def against_turns(rows: Iterable[Row], turns: int | None = None) -> Rows:
    """Return success within shares of the turns allowed, by agent and size, from the turns that solved episodes took.

    Args:
        rows: final attempts.
        turns: turns allowed; None for the paper's number of each size, also where there was no limit.

    Returns:
        Agent, parts, n, turns allowed, and success in percent within each share of ``SHARES``.
    """
    found: Rows = []
    for (agent, nodes), group in by_size(rows).items():
        allowed = turns or budget_for(nodes)
        within = [sum(bool(row["passed"]) and row["turns"] <= share * allowed for row in group) for share in SHARES]
        found.append((agent, nodes, len(group), allowed, *(100 * k / len(group) for k in within)))
    return found


def turn_steps(rows: Iterable[Row]) -> Iterable[tuple[str, int, int, int, int, float, float]]:
    """Yield agent, parts, turns, solved and n, and Wilson's interval, at each number of turns that solved a room."""
    for (agent, nodes), group in by_size(rows).items():
        taken = sorted(int(row["turns"]) for row in group if row["passed"])
        for turns in dict.fromkeys(taken):
            solved = sum(each <= turns for each in taken)
            yield (agent, nodes, turns, solved, len(group), *wilson(solved, len(group)))


def people(
    runs: Iterable[Trajectory], facts: Mapping[str, Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Make rows of runs that `agenthard escape play` recorded.

    Args:
        runs: the runs.
        facts: the facts of the rooms that were evaluated, by id of the task.

    Returns:
        The rows, and the rooms that are not among those.
    """
    rows, unknown = [], []
    for run in runs:
        if run.task_id not in facts:
            unknown.append(run.task_id)
            continue
        own = {"agent": run.model, "task_id": run.task_id, "trial": run.trial, "passed": run.passed}
        rows.append({**dict(run.usage), **facts[run.task_id], **own})
    return rows, unknown
