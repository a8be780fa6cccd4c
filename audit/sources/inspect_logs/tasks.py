"""Builds the record of a task from a sample."""

import json
from typing import TYPE_CHECKING, Any

from agenthard.audit.sources.formats.json_text import load_json_text
from agenthard.audit.sources.inspect_logs.log_files import Logged, to_messages
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolSpec,
    UserSpec,
)

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.log._log import EvalScorer

BENCHMARK = "inspect"
INCLUDES_NOTE = "the target must stand anywhere in the last reply, without regard to case unless the scorer says so"
MATCH_NOTE = "the last reply must begin or end with one of the targets, case, blanks and punctuation apart"
JUDGE_NOTE = "a model compares the last reply with the target"
CODE_NOTE = "code of the evaluation decides; the log does not say how"

_JUDGES = ("model_graded_qa", "model_graded_fact")


class Environments:
    """Builds environments. Equal prompts and tools give the same object."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], EnvironmentSpec] = {}

    def environment(self, logged: Logged) -> EnvironmentSpec:
        """Return what the agent was given in a sample: the first system messages, and the tools of its first call."""
        policy = "\n\n".join(message.content for message in _leading_system(to_messages(logged.sample.messages)))
        tools = _tools(logged.sample)
        key = (policy, json.dumps(tools))
        if key not in self._known:
            specs = tuple(ToolSpec(**doc, origin=logged.origin("/events")) for doc in tools)
            self._known[key] = EnvironmentSpec(policy=policy, tools=specs)
        return self._known[key]


def build_task(logged: Logged, environments: Environments) -> AgentTask:
    """Build the task of a sample; the log's model and its run are left out."""
    sample, spec = logged.sample, logged.log.eval
    targets = [target for target in ([sample.target] if isinstance(sample.target, str) else sample.target) if target]
    checks = tuple(_check(scorer, targets) for scorer in spec.scorers or ())
    extra = {name: value for name in ("choices", "setup", "files") if (value := getattr(sample, name))}
    if sample.sandbox is not None:
        extra["sandbox"] = sample.sandbox.type
    given = [message for message in _input(sample) if message.role != "system"]
    return AgentTask(
        id=logged.task_id,
        native_id=str(sample.id),
        benchmark=BENCHMARK,
        subtask=spec.task,
        user=UserSpec(kind="scripted", turns=(tuple(given),)),
        environment=environments.environment(logged),
        evaluation=EvaluationSpec(checks=checks),
        ground_truth=GroundTruth(semantics="none", answers=tuple(targets), call_matching="none"),
        metadata={**_json(sample.metadata), **extra},
        origins={
            "": logged.origin(),
            "/user/turns": logged.origin("/input"),
            "/ground_truth": logged.origin("/target"),
            "/environment/policy": logged.origin("/messages"),
            "/environment/tools": logged.origin("/events"),
        },
    )


def _input(sample: "EvalSample") -> tuple[Message, ...]:
    if isinstance(sample.input, str):
        return (Message(role="user", content=sample.input),)
    return to_messages(sample.input)


def _leading_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    led = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return messages[:led]


def _tools(sample: "EvalSample") -> list[dict[str, Any]]:
    for event in sample.events:
        if event.event == "model":
            return [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters.model_dump(mode="json", exclude_none=True),
                }
                for tool in event.tools
            ]
    return []


def _check(scorer: "EvalScorer", targets: list[str]) -> Check:
    name = scorer.name.removeprefix("inspect_ai/")
    expected = targets[0] if len(targets) == 1 else targets
    pointer = "/ground_truth/answers"
    if name == "includes":
        return Check(kind="output_substring", scored=True, expected=expected or "", pointer=pointer, note=INCLUDES_NOTE)
    if name == "match":
        return Check(kind="output_substring", scored=True, expected=targets or [""], pointer=pointer, note=MATCH_NOTE)
    if name in _JUDGES:
        return Check(kind="judge", scored=True, expected=expected or "", pointer=pointer, note=JUDGE_NOTE)
    return Check(kind="final_state", scored=True, note=f"{scorer.name}: {CODE_NOTE}")


def _json(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata as plain JSON; other values are written as text."""
    plain: dict[str, Any] = load_json_text(json.dumps(metadata, default=str))
    return plain
