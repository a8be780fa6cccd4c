"""Requests to ACEBench's script: how tasks, calls and attempts are encoded."""

from collections import Counter
from itertools import count
from typing import Any

from agenthard.taxonomy.accepted import concrete_values
from agenthard.taxonomy.task import AgentTask, ToolCall

CLASSES = ("BaseApi", "FoodPlatform", "MessageApi", "ReminderApi", "Travel")
"""Classes of the agent categories."""
MOST_ALTERNATIVES = 64
"""Accepted answers that are tried for one task."""
LABELS = {"user": "user", "assistant": "system"}


def needed(task: AgentTask, checker: str) -> list[str]:
    """Name what a checkout has to define for a task."""
    return _classes(task) if task.ground_truth.call_matching == "state" else [checker]


def _classes(task: AgentTask) -> list[str]:
    named = task.metadata.get("involved_classes")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def language(task: AgentTask) -> str:
    """Return the language of a task's data, as ACEBench's code takes it: its folder says it."""
    file = task.origins[""].file if "" in task.origins else ""
    return "zh" if "data_zh" in file or "_zh" in file else "en"


def session(task: AgentTask) -> dict[str, Any]:
    """Return what the classes of an agent task are built from."""
    return {"classes": _classes(task), "config": task.initial_state or {}}


def call(made: ToolCall) -> dict[str, Any]:
    """Return a call as ACEBench's decoder does: ``{name: arguments}``."""
    return {made.name or made.text or "": made.arguments}


def question(task: AgentTask) -> dict[str, Any]:
    """Return what is needed to judge attempts at a task."""
    if task.ground_truth.call_matching == "state":
        [check] = (check for check in task.evaluation.checks if check.kind == "final_state")
        return {"kind": "state", "session": session(task), "expected": check.expected}
    said = "\n".join(
        f"{LABELS[message.role]}: {message.content}"
        for turn in task.user.turns
        for message in turn
        if message.role in LABELS
    )
    return {
        "kind": "calls",
        "functions": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in task.environment.tools
        ],
        "answers": accepted_answers(task),
        "question": said,
        "category": task.subtask,
    }


def accepted_answers(task: AgentTask) -> list[Any]:
    """Return the alternatives of a normal task's answer as ACEBench writes them, repeated calls numbered from 1."""
    calls = [made for turn in task.ground_truth.turns for made in turn]
    often = Counter(made.name for made in calls)
    numbers = {name: count(1) for name in often}
    written = [made.name if often[made.name] == 1 else f"{made.name}_{next(numbers[made.name])}" for made in calls]
    together = dict(zip(written, (made.arguments for made in calls), strict=True))
    return [*concrete_values(together, limit=MOST_ALTERNATIVES), *task.metadata.get("alternatives", [])]
