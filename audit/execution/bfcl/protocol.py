"""Requests to BFCL's script and its answers: how tasks, attempts and verdicts are encoded."""

import json
from typing import Any

from agenthard.audit.execution.bfcl import native
from agenthard.audit.execution.bfcl.native import written
from agenthard.audit.execution.environment import Attempt, Verdict
from agenthard.audit.sources.bfcl.categories import CATEGORIES
from agenthard.taxonomy.task import AgentTask, ToolCall

RAISED = "Error during execution: "
"""How the package begins the response of a call that raised an exception."""

_CATEGORIES = {category.name: category for category in CATEGORIES}
SCORING = {name: category.scoring for name, category in _CATEGORIES.items()}
"""How each category is scored."""


_ANSWERED = {
    "web_search": "after searching the live web",
    "memory": "out of a memory that the same model filled in earlier conversations",
}


def not_executed(task: AgentTask) -> str | None:
    """Return why neither the classes nor the checkers of any release can evaluate a task; None when they can."""
    category = _CATEGORIES.get(task.subtask)
    if category is None:
        return f"bfcl-eval has no environment and no checker for the category {task.subtask!r}"
    if category.scoring == "answer":
        how = _ANSWERED[category.stem]
        return f"a run of {task.subtask} is scored on its last message, written {how}: it has no calls to execute"
    return None


def session(task: AgentTask) -> dict[str, Any]:
    """Return what the classes of a multi-turn task are built from."""
    groups = dict.fromkeys(tool.group for tool in task.environment.tools if tool.group)
    return {
        "id": f"{task.subtask}_0",  # the package reads the category from it and makes it part of Python names
        "classes": list(groups),
        "config": task.initial_state,
        "long_context": "long_context" in task.subtask,
    }


def question(task: AgentTask) -> dict[str, Any]:
    """Return what the checker needs to know of a task."""
    scoring = SCORING[task.subtask]
    if scoring == "state":
        built = session(task)
        entry = {"initial_config": built["config"], "involved_classes": built["classes"], "id": built["id"]}
        return {"kind": "state", "entry": entry, "gold": native.gold_texts(task)}
    if scoring in ("no_call", "any_call"):
        return {"kind": "presence", "expected": scoring == "any_call"}
    tools = task.environment.tools
    return {
        "kind": "calls",
        "functions": [native.documentation(tool) for tool in tools],
        "answer": [native.answer(call) for turn in task.ground_truth.turns for call in turn],
        "language": native.LANGUAGES.get(tools[0].language if tools else "", "Python"),
        "category": task.subtask,
    }


def attempted(task: AgentTask, attempt: Attempt) -> list[Any]:
    """Return the calls of an attempt as the checker of its task takes them."""
    if SCORING[task.subtask] == "state":
        return [[native.python_call(call) for call in turn] for turn in attempt.turns]
    return [{call.name: _arguments(task, call)} for turn in attempt.turns for call in turn]


def _arguments(task: AgentTask, call: ToolCall) -> dict[str, Any]:
    tool = task.tool(call.name)
    if tool is None or tool.language in ("json", "python"):
        return call.arguments
    properties = tool.parameters.get("properties", {})
    return {name: written(value, properties.get(name, {}), tool.language) for name, value in call.arguments.items()}


def verdict(answer: dict[str, Any]) -> Verdict:
    """Read the script's answer about an attempt."""
    return Verdict(passed=answer["valid"], parts=answer["parts"], reason=answer["reason"])


def error(text: str) -> str | None:
    """Tell why a call failed, from its response: it raised an exception, or it returned an object with ``error``.

    >>> error('{"error": "no such file"}')
    'no such file'
    >>> error('{"result": 4}')
    """
    if text.startswith(RAISED):
        return text.removeprefix(RAISED) or "an exception without a message"
    if not text.startswith("{"):
        return None
    try:
        response = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = response.get("error") if isinstance(response, dict) else None
    return str(found) if found else None
