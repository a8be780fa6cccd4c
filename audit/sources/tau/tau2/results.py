"""Result files of τ²-bench: ``{timestamp, info, tasks, simulations}``, with the tasks that were run embedded."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from agenthard.audit.sources.formats.json_stream import JsonStreamError, stream_members
from agenthard.audit.sources.tau.logs import LogRow
from agenthard.audit.sources.tau.tau2.tasks import DEFAULT_BASIS
from agenthard.taxonomy.record import Origin

_KEYS = {"timestamp", "info", "tasks", "simulations"}
_COSTS = {"agent_cost": "agent_cost", "user_cost": "user_cost", "duration": "seconds"}
_DEFAULTS: dict[str, Any] = {"requestor": "assistant", "assert_value": True}

Comparison = Literal["equal", "different", "absent"]
"""How an embedded task compares with the checkout's; absent when the checkout has no task of that id."""


def open_results(path: Path, name: str, tag: str) -> Iterator[LogRow] | None:
    """Open a result file.

    Returns:
        The rows with their places, or None when the file is something else.
    """
    info = read_info(path)
    return None if info is None else _rows(path, name, tag, info)


def read_info(path: Path) -> dict[str, Any] | None:
    """Return the ``info`` of a result file, which says domain and models; None when the file is something else."""
    try:
        for member in stream_members(path):
            if member.key not in _KEYS:
                return None
            if member.key == "info":
                return member.value if isinstance(member.value, dict) else None
    except JsonStreamError:
        return None
    return None


def compare_embedded(path: Path, tasks: Mapping[str, Any]) -> dict[str, Comparison]:
    """Compare the tasks that a result file embeds with native tasks by id, after :func:`normalised`.

    Raises:
        JsonStreamError: when the file is damaged.
    """
    found: dict[str, Comparison] = {}
    for member in stream_members(path):
        if member.key == "simulations":
            break
        if member.key == "tasks" and isinstance(member.value, dict):
            native_id = str(member.value.get("id"))
            same = normalised(member.value) == normalised(tasks.get(native_id))
            found[native_id] = "absent" if native_id not in tasks else "equal" if same else "different"
    return found


def normalised(value: Any) -> Any:
    """Remove values that mean the same as their absence: nulls, empty lists and objects, and default values.

    >>> normalised({"actions": [{"name": "x", "requestor": "assistant", "info": None}], "nl_assertions": []})
    {'actions': [{'name': 'x'}]}
    """
    if isinstance(value, list):
        return [normalised(item) for item in value]
    if not isinstance(value, dict):
        return value
    items = {key: normalised(item) for key, item in value.items()}
    if "reward_basis" in items:
        basis = items["reward_basis"]
        items["reward_basis"] = sorted(basis, key=str) if isinstance(basis, list) else basis
        if items["reward_basis"] == sorted(DEFAULT_BASIS):
            del items["reward_basis"]
    return {
        key: item
        for key, item in items.items()
        if item is not None and item != [] and item != {} and (key not in _DEFAULTS or item != _DEFAULTS[key])
    }


def _rows(path: Path, name: str, tag: str, info: dict[str, Any]) -> Iterator[LogRow]:
    shared = {
        "benchmark": tag,
        "domain": _inner(info, "environment_info").get("domain_name") or "",
        "model": _inner(info, "agent_info").get("llm"),
        "user_model": _inner(info, "user_info").get("llm"),
        "protocol": _inner(info, "agent_info").get("implementation"),
    }
    for member in stream_members(path):
        if member.key == "simulations":
            fields = {**shared, **_run(member.value)} if isinstance(member.value, dict) else member.value
            yield Origin(file=name, pointer=member.pointer), fields


def _run(value: dict[str, Any]) -> dict[str, Any]:
    reward_info = value.get("reward_info")
    usage = {key: value[logged] for logged, key in _COSTS.items() if isinstance(value.get(logged), int | float)}
    return {
        "task_id": value.get("task_id"),
        "trial": value.get("trial"),
        "reward": reward_info.get("reward") if isinstance(reward_info, dict) else None,
        "termination": value.get("termination_reason"),
        "messages": value.get("messages"),
        "usage": usage,
        "reward_info": reward_info,
    }


def _inner(info: dict[str, Any], key: str) -> dict[str, Any]:
    value = info.get(key)
    return value if isinstance(value, dict) else {}
