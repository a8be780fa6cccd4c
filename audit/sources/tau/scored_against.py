"""Which ground truth a logged run was scored against, where the log tells; task ids alone can be numbered anew."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

Gold = tuple[tuple[str, str, str], ...]
"""The calls of a ground truth: who makes each, its name, its arguments as canonical JSON; in no order."""


def gold_of(actions: Iterable[Any]) -> Gold:
    """Bring actions of a task, or of a log, into one form; what means the same when it is left out is left out.

    >>> gold_of([{"name": "x", "arguments": {"b": 1, "a": None}}])
    (('assistant', 'x', '{"b": 1}'),)
    """
    calls = []
    for action in actions:
        if isinstance(action, dict):
            arguments = {k: v for k, v in (action.get("arguments") or {}).items() if v is not None}
            text = json.dumps(arguments, sort_keys=True)
            calls.append((str(action.get("requestor") or "assistant"), str(action.get("name")), text))
    return tuple(sorted(calls))


def logged_gold(reward_info: Any) -> Gold | None:
    """Read the ground truth from the evaluation of a run of τ²-bench; None when it does not tell."""
    checks = reward_info.get("action_checks") if isinstance(reward_info, dict) else None
    if not isinstance(checks, list) or not checks:
        return None
    return gold_of(check.get("action") for check in checks if isinstance(check, dict))


def mismatch(logged: Gold | None, task_id: str, golds: Mapping[str, Gold]) -> str | None:
    """Say that a run was scored against another ground truth than its task has.

    Args:
        logged: what the log tells.
        task_id: the task that the log names.
        golds: ground truths by task id.

    Returns:
        The reason to set the run aside, or None.
    """
    if logged is None or golds.get(task_id) == logged or task_id not in golds:
        return None
    others = [other for other, gold in golds.items() if gold == logged]
    whose = f"that of {' or '.join(others)}: the log numbers the tasks otherwise" if others else "that of no task here"
    return (
        f"the run names the task {task_id} and was scored against another ground truth, {whose}; mend the ids of the "
        "log, or read the release that it is about"
    )
