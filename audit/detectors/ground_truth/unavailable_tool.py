"""Tools that a gold call names in its arguments, or that its user lacks."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rapidfuzz import process

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_NAMES_A_TOOL = "tool_name"
_PASSED_ON = "arguments"
_GIVEN_TO_USER = "user_tools"
"""Metadata of a task: the tools that its simulated user is given, of those that the domain has."""


class UnavailableTool(TaskDetector):
    """A tool that is reached through another one exists and gets its parameters, and the user has the tools it uses.

    Some tools are called through a tool that takes their name (``call_tool(tool_name=…, arguments=…)``), which their
    schema does not see. Rules:

    1. a gold argument whose name ends in "tool_name" is the name of a tool that is documented;
    2. the arguments that the same call passes on have the parameters that this tool documents: all required ones, and
       no other;
    3. where a task lists the tools that its simulated user is given, the user's gold calls are of these.

    Flagged: a call of "incident_transfer_1141", where the tools are called "incident_transfer_1114" and otherwise.
    Not flagged: where no documented tool is named by any such argument: the name is of something else.

    Wrong where a tool appears only while the task runs.
    """

    id = "unavailable-tool"
    title = "tools named in arguments that do not exist, or that the user lacks"
    version = "1"
    category = "insufficient-toolset"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "No run can make the call that is scored as right."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why there is nothing to look up, or None."""
        named = any(_named(call) for _, call in task.gold_calls())
        if named or any(call.requestor == "user" for _, call in task.gold_calls()) and _given(task) is not None:
            return None
        return "no gold call names a tool in an argument, and no list of the user's tools is given"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per tool that is missing, and per set of arguments that does not fit one."""
        tools = {tool.name: tool for tool in (*task.environment.tools, *task.environment.user_tools)}
        names = [name for _, call in task.gold_calls() for _, name in _named(call)]
        known = any(name in tools for name in names)
        seen: set[str] = set()
        for pointer, call in task.gold_calls():
            for hit in (*(_unnamed(task, pointer, call, tools) if known else ()), *_lacked(task, pointer, call)):
                if hit.claim not in seen:
                    seen.add(hit.claim)
                    yield hit


def _named(call: ToolCall) -> list[tuple[str, str]]:
    named = call.arguments.items()
    return [(key, value) for key, value in named if key.endswith(_NAMES_A_TOOL) and isinstance(value, str)]


def _given(task: AgentTask) -> list[str] | None:
    given = task.metadata.get(_GIVEN_TO_USER)
    return [name for name in given if isinstance(name, str)] if isinstance(given, list | tuple) else None


def _unnamed(task: AgentTask, pointer: str, call: ToolCall, tools: dict[str, ToolSpec]) -> Iterator[Hit]:
    for key, name in _named(call):
        at = join(pointer, "arguments", key)
        if (tool := tools.get(name)) is not None:
            yield from _misfit(task, pointer, call, tool)
            continue
        near = process.extractOne(name, list(tools), score_cutoff=80)
        yield Hit(
            claim=f"The gold call of {call.name!r} names the tool {name!r}, which does not exist"
            + (f"; there is {near[0]!r}." if near else "."),
            evidence=(quote(task, at, note="the gold call"),),
            fix=f"Write {near[0]!r}." if near else "Name a tool that exists.",
        )


def _misfit(task: AgentTask, pointer: str, call: ToolCall, tool: ToolSpec) -> Iterator[Hit]:
    passed = _passed_on(call)
    properties = tool.parameters.get("properties") or {}
    if passed is None or not properties:
        return
    lacking = [name for name in tool.parameters.get("required") or () if name not in passed]
    unknown = [name for name in passed if name not in properties]
    for names, what in ((lacking, "without the required"), (unknown, "with the undocumented")):
        if names:
            yield Hit(
                claim=f"The gold call of {call.name!r} calls {tool.name!r} {what} {', '.join(map(repr, names))}.",
                evidence=(quote(task, join(pointer, "arguments", _PASSED_ON), note="what the call passes on"),),
                fix="Pass on what the tool documents.",
                category="malformed-tool-call",
            )


def _passed_on(call: ToolCall) -> dict[str, Any] | None:
    given = call.arguments.get(_PASSED_ON)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return None
    return given if isinstance(given, dict) else None


def _lacked(task: AgentTask, pointer: str, call: ToolCall) -> Iterator[Hit]:
    given = _given(task)
    if given is not None and call.requestor == "user" and call.name not in given:
        yield Hit(
            claim=f"The user's gold call is of {call.name!r}, and the task gives its user "
            f"{', '.join(map(repr, given)) or 'no tool'}.",
            evidence=(
                quote(task, f"{pointer}/name", note="the user's gold call"),
                quote(task, f"/metadata/{_GIVEN_TO_USER}", note="the tools of the user"),
            ),
            fix="Give the user the tool.",
        )
