"""A published split as an Inspect task: its ``inspect_task.py`` calls :func:`published_split`. Needs ``inspect``.

The model gets the scripted turns of the user and the tools. Where a benchmark's code is at hand, it answers the calls
and scores the attempt; else the calls of the one turn are scored as the task declares. The log holds no ground truth.
"""

import json
import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.execution.declared_evaluation import DECLARED_EVALUATION, DeclaredEvaluation, score
from agenthard.audit.execution.environment import Attempt, Environment, Verdict
from agenthard.audit.execution.registry import has_code, new_environment
from agenthard.audit.sources.registry import open_source
from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.inspect_file import why_not_played
from agenthard.flows.publishing.native_copy import original_ids
from agenthard.flows.publishing.signature import verify_folder
from agenthard.flows.publishing.versions import read_publication
from agenthard.taxonomy.errors import MissingExtraError
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

try:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        get_model,
    )
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import ToolInfo, ToolParam, ToolParams
except ModuleNotFoundError as error:
    raise MissingExtraError("the Inspect task", "inspect") from error

_ATTEMPT = "attempt"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_log = logging.getLogger(__name__)


def published_split(folder: str, max_steps: int = 30) -> Task:
    """Make the Inspect task of a published split.

    Args:
        folder: the publication.
        max_steps: replies that a model may give in one turn of the user.

    Returns:
        The task; accuracy is the share of the tasks that the attempt solves.

    Raises:
        CommandError: files are damaged or missing, or no task of the split can be played.
    """
    made, found = read_publication(Path(folder)), verify_folder(Path(folder))
    if found.damaged or found.missing:
        raise CommandError(f"{folder}: damaged: {', '.join((*found.damaged, *found.missing)[:3])}; get it again")
    tasks = _tasks(Path(folder), made.source, made.native_home, set(made.tasks))
    playable = {}
    reasons: dict[str, int] = {}
    for task_id, task in tasks.items():
        if reason := why_not_played(task):
            reasons[reason] = reasons.get(reason, 0) + 1
        else:
            playable[task_id] = task
    for reason, count in reasons.items():
        _log.warning("%s: %d of %d tasks are left out: %s", made.name, count, len(tasks), reason)
    if not playable:
        raise CommandError(f"{made.name}: no task can be run as an Inspect sample: {'; '.join(reasons) or 'no task'}")

    def find(task_id: str) -> AgentTask:
        return playable[task_id]

    return Task(
        name=_UNSAFE.sub("-", made.name),
        version=made.version,
        dataset=MemoryDataset([_sample(task_id, task) for task_id, task in playable.items()], name=made.name),
        solver=play_turns(find, max_steps),
        scorer=benchmark_verdict(find),
        metadata={"split_id": made.split_id, "tasks": len(tasks), "left_out": reasons},
    )


def _tasks(folder: Path, source: str, home: str, wanted: set[str]) -> dict[str, AgentTask]:
    """Read the tasks of a split from the benchmark's own files, by their ids in the benchmark."""
    ids = original_ids(folder / home)
    tasks = open_source(source, folder / home).read_tasks()[0]
    return {name: task for task in tasks if (name := ids.get(task.id, task.id)) in wanted}


def _sample(task_id: str, task: AgentTask) -> Sample:
    text = "\n\n".join(message.content for turn in task.user.turns for message in turn)
    return Sample(id=task_id, input=text or task_id, metadata={"category": task.subtask, "turns": len(task.user.turns)})


@solver
def play_turns(find: Callable[[str], AgentTask], max_steps: int) -> Solver:
    """Lets the model answer the scripted turns of the user one after the other.

    Args:
        find: returns a task by its id. Inspect writes what a solver and a scorer get into the log, so not the tasks.
        max_steps: replies that a model may give in one turn.

    Returns:
        The solver; it leaves the attempt in the sample's store.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = find(str(state.sample_id))
        environment = _environment(task)
        try:
            executing = environment if environment and _executes(environment, task) else None
            attempt = await _attempt(state, task, executing, max_steps)
        finally:
            if environment:
                environment.close()
        state.store.set(_ATTEMPT, attempt.model_dump(mode="json"))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def benchmark_verdict(find: Callable[[str], AgentTask]) -> Scorer:
    """Scores the attempt: by the benchmark's own evaluator where it is at hand, else as the task declares.

    Args:
        find: returns a task by its id. Inspect writes what a solver and a scorer get into the log, so not the tasks.

    Returns:
        The scorer.
    """

    async def evaluate(state: TaskState, target: Target) -> Score:
        task = find(str(state.sample_id))
        attempt = Attempt.model_validate(state.store.get(_ATTEMPT))
        verdict, evaluator = _verdict(task, attempt)
        return Score(
            value=CORRECT if verdict.passed else INCORRECT,
            answer=json.dumps(attempt.model_dump(mode="json")["turns"]),
            explanation=verdict.reason or None,
            metadata={"parts": verdict.parts, "evaluator": evaluator},
        )

    return evaluate


def _verdict(task: AgentTask, attempt: Attempt) -> tuple[Verdict, str]:
    environment = _environment(task)
    if environment is None:
        return score(DeclaredEvaluation.of(task), attempt), DECLARED_EVALUATION
    try:
        return environment.evaluate(task, attempt), environment.label()
    finally:
        environment.close()


def _environment(task: AgentTask) -> Environment | None:
    """Return the code that answers and scores, of those that a publication can be played with; None = as declared."""
    return new_environment(task.benchmark) if has_code(task.benchmark) else None


def _executes(environment: Environment, task: AgentTask) -> bool:
    """Tell whether calls of a task are executed; a task whose functions exist as documentation only has no state."""
    if task.ground_truth.call_matching != "state":
        return False
    environment.reset(task)
    return True


async def _attempt(state: TaskState, task: AgentTask, environment: Environment | None, max_steps: int) -> Attempt:
    messages: list[ChatMessage] = (
        [ChatMessageSystem(content=task.environment.policy)] if task.environment.policy else []
    )
    turns, replies = [], []
    for number, turn in enumerate(task.user.turns):
        messages += [_said(message.role, message.content) for message in turn]
        offered = {_safe(tool.name): tool for tool in _offered(task, number)}
        calls: list[ToolCall] = []
        for _ in range(max_steps):
            state.output = await get_model().generate(messages, [_info(name, tool) for name, tool in offered.items()])
            reply = state.output.message
            messages.append(reply)
            if not reply.tool_calls:
                replies.append(reply.text)
                break
            for call in reply.tool_calls:
                name = offered[call.function].name if call.function in offered else call.function
                calls.append(ToolCall(name=name, arguments=dict(call.arguments)))
                text = environment.call(calls[-1]).text if environment else ""
                messages.append(ChatMessageTool(content=text, tool_call_id=call.id, function=call.function))
            if environment is None:  # nothing answers: the calls of this reply are what is scored
                break
        turns.append(tuple(calls))
    state.messages = messages
    return Attempt(turns=tuple(turns), replies=tuple(replies))


def _said(role: str, text: str) -> ChatMessage:
    if role == "system":
        return ChatMessageSystem(content=text)
    return ChatMessageAssistant(content=text) if role == "assistant" else ChatMessageUser(content=text)


def _offered(task: AgentTask, turn: int) -> Sequence[ToolSpec]:
    hidden = {name for at, names in task.hidden_tools.items() if not at or int(at) > turn for name in names}
    return [tool for tool in task.environment.tools if tool.name not in hidden]


def _safe(name: str) -> str:
    """Return the name of a tool as providers take it: letters, digits, dashes and underscores, at most 64."""
    return _UNSAFE.sub("_", name)[:64]


def _info(name: str, tool: ToolSpec) -> ToolInfo:
    return ToolInfo(name=name, description=tool.description or name, parameters=_parameters(tool.parameters))


def _parameters(schema: dict[str, Any]) -> ToolParams:
    properties = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if name in properties]
    try:
        return ToolParams.model_validate({"properties": properties, "required": required})
    except ValidationError:  # a schema that Inspect's own type cannot hold: the description says what it was
        given = {key: ToolParam(description=json.dumps(value, ensure_ascii=False)) for key, value in properties.items()}
        return ToolParams(properties=given, required=required)
