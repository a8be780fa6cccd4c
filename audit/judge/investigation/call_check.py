"""Checking a call against the documentation of the tools, as the check ``call-schema`` does with gold calls."""

from typing import Any

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.investigation.found import Found, clip
from agenthard.taxonomy.task import AgentTask, ToolCall


def validate_call(task: AgentTask, name: str, arguments: dict[str, Any]) -> Found:
    """Check whether the agent could make a call from the documentation of its tools.

    The benchmark's conventions hold as they do for its gold calls; tools that are revealed late count as offered.

    Args:
        task: The task.
        name: Name of the tool.
        arguments: Arguments of the call.
    """
    call = ToolCall(name=name, arguments=arguments)
    gold = task.ground_truth.model_copy(update={"turns": ((call,),)})
    asked = task.model_copy(update={"ground_truth": gold, "hidden_tools": {}})
    title = f"the call {clip(f'{name}({canonical_json(arguments)})', 300)} against the documentation"
    reason = CallSchema().not_applicable(asked)
    if reason is not None:
        return Found("checks", title, f"It cannot be checked: {reason}.")
    lines = []
    for hit in CallSchema().inspect(asked):
        lines.append(hit.claim.replace("The gold calls", "The call names", 1).replace("The gold call", "The call", 1))
        documented = [item for item in hit.evidence if item.pointer.startswith("/environment")]
        lines += [f"  {item.pointer} says: {clip(item.quote, 600)}" for item in documented]
    return Found("checks", title, "\n".join(lines) or "It keeps to the documented names, types and bounds.")
