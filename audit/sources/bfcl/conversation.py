"""What a model wrote, in any of the shapes that BFCL's handlers log, as messages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agenthard.audit.sources.formats.calls import parse_call_list
from agenthard.taxonomy.task import AgentTask, Message, ToolCall

INFERENCE_ERROR = "Error during inference:"
"""What BFCL writes in the place of a result when the request to the model failed."""


def conversation(task: AgentTask, result: Any) -> tuple[Message, ...]:
    """Lay the model's steps out after the user's turns. BFCL logs no responses of tools in the result itself.

    Args:
        task: the task.
        result: the ``result`` field: one step, or for multi-turn and agentic tasks a list of turns of steps. A step is
            a text (perhaps a list of Python calls) or a list of ``{function: arguments}``.
    """
    names = {tool.name: tool.name for tool in task.environment.tools}
    names |= {name.replace(".", "_"): name for name in names if name.replace(".", "_") not in names}
    parameters = {tool.name: list(tool.parameters["properties"]) for tool in task.environment.tools}
    nested = task.evaluation.checks == () or task.evaluation.checks[0].kind in ("final_state", "output_substring")
    turns = result if nested and isinstance(result, list) else [[result]]
    messages: list[Message] = []
    for index, steps in enumerate(turns):
        messages.extend(task.user.turns[index] if index < len(task.user.turns) else ())
        for step in steps if isinstance(steps, list) else [steps]:
            messages.append(_step(step, names, parameters))
    return tuple(messages)


def _step(step: Any, names: Mapping[str, str], parameters: Mapping[str, list[str]]) -> Message:
    calls = parse_call_list(step, parameters) if isinstance(step, str) else _function_calls(step)
    named = tuple(call.model_copy(update={"name": names.get(call.name, call.name)}) for call in calls)
    content = step if isinstance(step, str) else "" if calls else json.dumps(step, ensure_ascii=False)
    return Message(role="assistant", content=content, tool_calls=named)


def _function_calls(step: Any) -> tuple[ToolCall, ...]:
    calls = []
    for item in step if isinstance(step, list) else [step]:
        if not isinstance(item, dict) or len(item) != 1:
            return ()
        [(name, arguments)] = item.items()
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                return ()
        if not isinstance(arguments, dict):
            return ()
        calls.append(ToolCall(name=name, arguments=arguments))
    return tuple(calls)


def usage(record: Mapping[str, Any]) -> dict[str, float]:
    """Add up tokens and seconds, which are logged as one number or as lists per turn and step."""
    names = {"input_token_count": "input_tokens", "output_token_count": "output_tokens", "latency": "seconds"}
    return {name: sum(_numbers(record[key])) for key, name in names.items() if key in record}


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, (int, float)):
        yield float(value)
