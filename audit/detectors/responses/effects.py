"""What a run did that counts: its calls that can change something, or its final answer, in one canonical form."""

import json
from collections.abc import Iterable
from typing import Any

from agenthard.audit.detectors.support.answered import answered, parsed
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

LONGEST_ANSWER = 200
"""Final answers longer than this, in characters, are prose: no two models write the same."""


def effect_of_run(task: AgentTask, run: Trajectory) -> str | None:
    """Write down what the agent of a run did; None when the run cannot be compared.

    Calls that were refused, and those of tools documented as reads, are left out. Their order does not count, nor does
    the order within a list of values where a call gives one list only.
    """
    if _has_calls(task):
        done = (now.call for now in answered(run.messages) if _done(now.text))
        return effect_of_calls(task, (call for call in done if call.requestor == "assistant"))
    last = next((m.content for m in reversed(run.messages) if m.role == "assistant" and m.content), "")
    answer = " ".join(last.casefold().split())
    return answer if task.ground_truth.answers and 0 < len(answer) <= LONGEST_ANSWER else None


def effect_of_gold(task: AgentTask) -> str | None:
    """Write down the calls of the ground truth in the same form; None for answers, of which any one suffices."""
    if not _has_calls(task):
        return None
    return effect_of_calls(task, (call for _, call in task.gold_calls() if call.requestor == "assistant"))


def effect_of_calls(task: AgentTask, calls: Iterable[ToolCall]) -> str:
    """Write down calls in canonical form, one a line, sorted; empty when nothing could be changed."""
    reads = {tool.name for tool in task.environment.tools if tool.effect == "read"}
    return "\n".join(sorted(f"{c.name} {_arguments(c.arguments)}" for c in calls if c.name not in reads))


def _has_calls(task: AgentTask) -> bool:
    return not task.ground_truth.answers and task.ground_truth.semantics in ("required", "reference_path")


def _done(text: str) -> bool:
    response = parsed(text) if text.startswith("{") else None
    return not text.startswith("Error") and not (isinstance(response, dict) and "error" in response)


def _arguments(arguments: dict[str, Any]) -> str:
    lists = [name for name, value in arguments.items() if isinstance(value, list)]
    if len(lists) == 1:
        arguments = {**arguments, lists[0]: sorted(arguments[lists[0]], key=canonical_json)}
    return canonical_json(json.loads(json.dumps(arguments), parse_float=_number))


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() else value
