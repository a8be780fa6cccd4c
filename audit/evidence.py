"""Evidence: quotes from tasks and runs, and the check that finds each quote again."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory


def canonical_json(value: Any) -> str:
    """Serialise a JSON value or a record in the form that quotes of non-strings use."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return _ENCODER.encode(value)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(", ", ": "), default=_plain)


def text_at(root: BaseModel, pointer: str) -> str:
    """Return the text at ``pointer``: a string as it is, anything else as canonical JSON.

    Raises:
        LookupError: when the pointer leads nowhere.
    """
    value = resolve(root, pointer)
    return value if isinstance(value, str) else canonical_json(value)


def quote(root: AgentTask, pointer: str, *, text: str | None = None, note: str = "") -> Evidence:
    """Quote a task: the whole text at ``pointer``, or the part ``text`` of it."""
    return Evidence(task_id=root.id, pointer=pointer, quote=text_at(root, pointer) if text is None else text, note=note)


def quote_run(run: Trajectory, pointer: str, *, text: str | None = None, note: str = "") -> Evidence:
    """Quote a run: the whole text at ``pointer``, or the part ``text`` of it."""
    whole = text_at(run, pointer) if text is None else text
    return Evidence(task_id=run.task_id, trajectory_id=run.id, pointer=pointer, quote=whole, note=note)


def failure(item: Evidence, task: AgentTask | ToolSpec | None, runs: Mapping[str, Trajectory]) -> str | None:
    """Re-check one quote.

    Args:
        item: the evidence.
        task: the task it names, when available; for evidence that is relative to a tool, the tool.
        runs: available runs by id.

    Returns:
        None when the quote is found at its pointer, else what is wrong.
    """
    root = task if item.trajectory_id is None else runs.get(item.trajectory_id)
    if root is None or (isinstance(root, AgentTask) and root.id != item.task_id):
        return f"nothing available named {item.trajectory_id or item.task_id!r}"
    if not item.quote:
        return "the quote is empty"
    try:
        text = text_at(root, item.pointer)
    except (LookupError, ValueError) as error:
        return str(error)
    return None if item.quote in text else f"the quote is not at {item.pointer!r}"
