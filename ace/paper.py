"""The tables of the ACE-Bench paper from an evaluation: cells, time, usage, and why runs failed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agenthard.ace.failures import REASONS, Failure
from agenthard.audit.statistics import wilson

Row = Mapping[str, Any]
"""An episode with the columns of the table of episodes."""
Rows = list[tuple[Any, ...]]


def cells(finals: Iterable[Row]) -> Rows:
    """Count agent × failure rate × H × B: passed, n, percent with its Wilson interval."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in finals:
        if row["passed"] is not None:
            key = row["agent"], row["failure_rate"], row["hidden_slots"], row["decoy_budget"]
            groups.setdefault(key, []).append(row)
    return [(*key, *_share(sum(row["passed"] for row in rows), len(rows))) for key, rows in sorted(groups.items())]


def slices(finals: Sequence[Row], hidden: int | None, decoys: int | None) -> Rows:
    """Count agent × failure rate × the factor that is not held, with H or B held at a level."""
    held, across = ("hidden_slots", "decoy_budget") if hidden is not None else ("decoy_budget", "hidden_slots")
    level = hidden if hidden is not None else decoys
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in finals:
        if row["passed"] is not None and row[held] == level:
            groups.setdefault((row["agent"], row["failure_rate"], row[across]), []).append(row)
    return [(*key, *_share(sum(row["passed"] for row in rows), len(rows))) for key, rows in sorted(groups.items())]


def times(attempts: Iterable[Row], model_seconds: Mapping[str, float]) -> Rows:
    """Average agent × failure rate: seconds of an episode, of its model, and of all else, and seconds per call.

    Args:
        attempts: all attempts; the ledger does not tell the attempts at one episode apart.
        model_seconds: time from sending requests to the replies, by id of the episode; none for agents without a model.
    """
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in attempts:
        groups.setdefault((row["agent"], row["failure_rate"]), []).append(row)
    found: Rows = []
    for (agent, rate), rows in sorted(groups.items()):
        known = [row for row in rows if row["seconds"] is not None]
        total = sum(row["seconds"] for row in known)
        waited = sum(model_seconds.get(id, 0.0) for id in {episode_id(row) for row in known})
        asked = any(row["requests"] for row in rows)
        calls = sum(row["calls"] or 0 for row in known)
        n = len(known)
        rest = max(total - waited, 0.0)
        found.append(
            (agent, rate, n)
            + (_ratio(1000 * total, n), _ratio(1000 * waited, n) if asked else None)
            + (_ratio(1000 * rest, n), _ratio(1000 * rest, calls))
        )
    return found


def usage(finals: Sequence[Row], attempts: Sequence[Row]) -> Rows:
    """Sum up one row per agent: score over final attempts, means and totals over all attempts."""
    by_agent: dict[str, list[Row]] = {}
    for row in attempts:
        by_agent.setdefault(row["agent"], []).append(row)
    found: Rows = []
    for agent, rows in sorted(by_agent.items()):
        scored = [row for row in finals if row["agent"] == agent and row["passed"] is not None]
        prices = [row["cost"] for row in rows if row["cost"] is not None]
        found.append(
            (agent, *_share(sum(row["passed"] for row in scored), len(scored)))
            + tuple(_mean(rows, name) for name in ("turns", "calls", "messages", "prompt_tokens", "completion_tokens"))
            + (_mean(rows, "seconds"), sum(prices) if prices else None, len(prices), len(rows))
        )
    return found


def failures(found: Iterable[tuple[Row, Failure]], finals: Iterable[Row]) -> Rows:
    """Count agent × failure rate: failed runs by reason, and the rule most often broken at the end."""
    failed: dict[tuple[str, float], list[Failure]] = {}
    for row, failure in found:
        failed.setdefault((row["agent"], row["failure_rate"]), []).append(failure)
    runs = Counter((row["agent"], row["failure_rate"]) for row in finals if row["passed"] is not None)
    rows: Rows = []
    for key, count in sorted(runs.items()):
        each = failed.get(key, [])
        reasons = Counter(failure.reason for failure in each)
        rules = Counter(failure.rule for failure in each if failure.rule)
        often = "; ".join(f"{rule} {number}" for rule, number in sorted(rules.items(), key=lambda r: (-r[1], r[0]))[:3])
        rows.append(
            (*key, count, len(each), *(reasons[reason] for reason in REASONS))
            + tuple(_ratio(sum(getattr(f, name) for f in each), len(each)) for name in ("empty", "decoys", "filters"))
            + (often,)
        )
    return rows


def episode_id(row: Row) -> str:
    """Return the id of an episode, which is that of its run and the owner of its requests."""
    condition = f"failures {row['failure_rate']:g}" if row["failure_rate"] else ""
    return f"{row['agent']}/{row['task_id']}/{condition}/{int(row['trial'])}"


def _share(passed: int, n: int) -> tuple[Any, ...]:
    if not n:
        return 0, 0, None, None, None
    low, high = wilson(int(passed), n)
    return int(passed), n, 100 * passed / n, 100 * low, 100 * high


def _mean(rows: Sequence[Row], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return _ratio(sum(known), len(known))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
