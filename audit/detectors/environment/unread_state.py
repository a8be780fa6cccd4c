"""Fields of a task's initial state that the environment does not read."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import canonical_json, quote
from agenthard.audit.execution.environment import Environment, ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.execution.replay import replay
from agenthard.taxonomy.finding import Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_MOST_CALLS = 12
"""Look-ups made of one tool: those without arguments, or with each documented choice."""


class UnreadState(TaskDetector):
    """A field of the initial state makes no difference to the environment that the task runs in.

    Rule: the environment is reset twice more, once without the field and once with another value of its kind. All
    three times the state is the same, and so are the answers of all tools, other than writes, that can be called
    without arguments or with documented choices alone. A field is a member of the initial state, or of the part of it
    that is named as the group (class) of some of the task's tools. A field that the documented response of a tool names
    is kept somewhere. An environment that reads none of the fields has its state from elsewhere, and nothing is said
    about it.

    Flagged: ``{"Calculator": {"numbers": [1, 2]}}``, where the class keeps nothing.
    Not flagged: a field that is kept under another name, or that a look-up shows.

    It is wrong where a field is kept out of sight and shows only in answers to calls with arguments of their own.
    """

    id = "unread-state"
    title = "the environment does not read a field of the initial state"
    version = "1"
    category = "incorrect-tool-response"
    severity = Severity.COSMETIC
    tier = Tier.SUSPECTED
    executes = True
    level = Level.ENVIRONMENT
    why = "The author of the task took the field for part of the world, and no tool will ever answer from it."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the environment cannot be reset with another state, or None."""
        if not isinstance(task.initial_state, dict) or not task.initial_state:
            return "the task has no initial state of its own"
        try:
            _unread(_Key(task))
        except UnavailableError as reason:
            return str(reason)
        return None

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per field; the same field in several tasks is one finding."""
        for path in _unread(_Key(task)):
            name = ".".join(path)
            yield Hit(
                claim=f"The environment does not read {name} of the initial state: without it, and with another value, "
                "it starts in the same state and answers the same",
                evidence=(quote(task, join("/initial_state", *path), note=f"what {name} is said to be"),),
                fix="Leave the field out, or name it as the environment does.",
                cause=name,
            )


class _Key:
    """A task, equal to others that start from the same state with the same tools: clones are looked at once."""

    def __init__(self, task: AgentTask) -> None:
        self.task = task
        self.environment = environment_of(task)
        runs = self.environment.label()
        tools = [[tool.name, tool.parameters, tool.returns] for tool in task.environment.tools]
        self._text = canonical_json([task.benchmark, task.subtask, runs, task.initial_state, tools])

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._text == other._text


@lru_cache(maxsize=1024)
def _unread(key: _Key) -> tuple[tuple[str, ...], ...]:
    task, environment = key.task, key.environment
    fields = dict(_fields(task))
    changed = {path: _other(value) for path, value in fields.items()}
    environment.reset(task)
    start, elsewhere = environment.snapshot(), _start(environment, _with(task, changed))
    if elsewhere == start:
        return ()
    shown = _responses(task)
    found = []
    for path, other in changed.items():
        if squash(path[-1]) in shown or _kept(start, path) != _kept(elsewhere, path):
            continue
        others = _with(task, {path: other}), _with(task, {path: _GONE})
        if all(_start(environment, each) == start for each in others):
            looked = _look(environment, task)
            if looked is not None and all(_look(environment, each) == looked for each in others):
                found.append(path)
    return tuple(found)


def _responses(task: AgentTask) -> frozenset[str]:
    """Return the names in the documented responses of the tools: what one of them tells is kept somewhere."""
    return frozenset(squash(text) for tool in task.environment.tools for text in scalars_in(tool.returns))


def _kept(state: Any, path: tuple[str, ...]) -> Any:
    """Return what a state keeps under the name of a field, which tells a field that is read without a further reset."""
    held = state
    for name in path:
        members = held if isinstance(held, dict) else {}
        held = next((value for key, value in members.items() if squash(str(key)) == squash(name)), None)
    return held


def _fields(task: AgentTask) -> Iterator[tuple[tuple[str, ...], Any]]:
    groups = {tool.group for tool in task.environment.tools}
    for name, value in task.initial_state.items():
        if name in groups and isinstance(value, dict):
            yield from (((name, inner), item) for inner, item in value.items())
        elif name not in groups:
            yield (name,), value


_GONE = object()


def _other(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 7
    if isinstance(value, dict):
        return {} if value else {"7": {}}
    if isinstance(value, list):
        return [] if value else [7]
    return f"{value}x"


def _with(task: AgentTask, fields: Mapping[tuple[str, ...], Any]) -> AgentTask:
    state = json.loads(json.dumps(task.initial_state))
    for path, value in fields.items():
        holder = state
        for name in path[:-1]:
            holder = holder[name]
        if value is _GONE:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value
    return task.model_copy(update={"initial_state": state})


def _start(environment: Environment, task: AgentTask) -> Any:
    """Return the state that a task starts in; None when the environment refuses it, which no state equals."""
    try:
        environment.reset(task)
        return environment.snapshot()
    except ExecutionError:
        return None


def _look(environment: Environment, task: AgentTask) -> tuple[str, ...] | None:
    """Return what all look-ups answer that need no knowledge; None when the environment breaks."""
    try:
        steps = replay(environment, task, (tuple(_look_ups(task.environment.tools)),)).steps
    except ExecutionError:
        return None
    return tuple(step.observation.text for step in steps)


def _look_ups(tools: Iterable[ToolSpec]) -> Iterator[ToolCall]:
    """Yield calls that need nothing but documented choices, of tools that are not marked as writes."""
    for tool in tools:
        properties, required = tool.parameters.get("properties", {}), tool.parameters.get("required", [])
        choices = [properties.get(name, {}).get("enum") for name in required]
        if tool.effect != "write" and all(isinstance(values, list) for values in choices):
            for picked in list(product(*choices))[:_MOST_CALLS]:
                yield ToolCall(name=tool.name, arguments=dict(zip(required, picked, strict=True)))
