"""Small tables of episodes, written by hand."""

from typing import Any

import pandas as pd

DEFAULTS: dict[str, Any] = {
    "agent": "a",
    "task_id": "t1",
    "domain": "course",
    "hidden_slots": 1,
    "decoy_budget": 0,
    "failure_rate": 0.0,
    "trial": 0,
    "attempt": 0,
    "status": "ok",
    "ending": "done",
    "score": None,
    "passed": True,
    **dict.fromkeys(("turns", "messages", "calls", "malformed", "failed_calls", "queries", "global_checks"), None),
    **dict.fromkeys(("truncations", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"), None),
    **dict.fromkeys(("requests", "cost", "seconds"), None),
}


def episodes(*rows: dict[str, Any]) -> pd.DataFrame:
    """One row per mapping; what it does not say is a pass of agent a on task t1 without any measure."""
    return pd.DataFrame([DEFAULTS | row for row in rows], columns=list(DEFAULTS))


def verdicts(agent: str, text: str, **more: Any) -> list[dict[str, Any]]:
    """Tasks t1, t2 … of one agent: 1 passed, 0 failed, x broken by the infrastructure."""
    rows = []
    for i, mark in enumerate(text, 1):
        row = {"agent": agent, "task_id": f"t{i}", "passed": {"1": True, "0": False}.get(mark), **more}
        rows.append(row | ({"status": "infrastructure_error", "ending": "error"} if mark == "x" else {}))
    return rows


def grid(agents: tuple[str, ...] = ("strong", "strong+forgets", "weak")) -> pd.DataFrame:
    """Three agents on 2 domains × 2 H × 3 B × 2 trials at two failure rates; scores fall with all of them."""
    rows = []
    for skill, agent in zip((9, 6, 3), agents, strict=False):
        for domain in ("course", "meal"):
            for hidden in (1, 5):
                for budget in (0, 2, 4):
                    for rate in (0.0, 0.5):
                        for trial in (0, 1):
                            left = skill - hidden - budget / 2 - 4 * rate + (domain == "meal") - trial
                            turns = 2 * hidden + trial
                            rows.append(
                                {
                                    **{"agent": agent, "domain": domain, "task_id": f"{domain}_h{hidden}_b{budget}"},
                                    **{"hidden_slots": hidden, "decoy_budget": budget, "failure_rate": rate},
                                    **{"trial": trial, "passed": left > 0, "score": float(left > 0), "turns": turns},
                                    **{"calls": 3 * turns, "messages": 4 * turns + 2, "prompt_tokens": 100 * turns},
                                    **{"seconds": turns / 10, "cost": 0.01 if agent == agents[0] else None},
                                    "ending": "done" if left > -2 else "max_steps",
                                }
                            )
    return episodes(*rows)
