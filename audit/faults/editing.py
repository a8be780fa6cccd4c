"""Small changes of a task: its gold calls, its tools, its texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.accepted import alternatives, any_of, is_any_of, is_optional
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall, ToolSpec

_CONTEXT = "/user/context/"


@dataclass(frozen=True)
class Site:
    """A gold call of an offered tool."""

    turn: int
    """Turn, from 0."""
    index: int
    """Position within the turn, from 0."""
    call: ToolCall
    """The call."""
    tool: ToolSpec
    """Its tool."""

    @property
    def pointer(self) -> str:
        """JSON Pointer to the call."""
        return f"/ground_truth/turns/{self.turn}/{self.index}"

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        """Documented parameters."""
        found: dict[str, dict[str, Any]] = self.tool.parameters.get("properties", {})
        return found

    @property
    def writes(self) -> bool:
        """Whether the tool is documented as a write."""
        return self.tool.effect == "write"

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield documented arguments that have to be given, each with the first accepted value."""
        for name, value in self.call.arguments.items():
            if name in self.properties and not is_optional(value):
                choices = alternatives(value)
                if choices:
                    yield name, choices[0][1]


def sites(task: AgentTask, rng: Random) -> list[Site]:
    """List the agent's gold calls of offered tools, in random order; milestones are not calls to be made."""
    if task.ground_truth.semantics == "milestones":
        return []
    found = [
        Site(i, j, call.model_copy(update={"text": None, "positional": 0}), tool)
        for i, turn in enumerate(task.ground_truth.turns)
        for j, call in enumerate(turn)
        if call.requestor == "assistant" and (tool := task.tool(call.name)) is not None
    ]
    return rng.sample(found, len(found))


def with_gold(task: AgentTask, turn: int, index: int, calls: Sequence[ToolCall]) -> AgentTask:
    """Put calls in the place of one gold call."""
    turns = list(task.ground_truth.turns)
    turns[turn] = (*turns[turn][:index], *calls, *turns[turn][index + 1 :])
    return task.model_copy(update={"ground_truth": task.ground_truth.model_copy(update={"turns": tuple(turns)})})


def with_value(task: AgentTask, site: Site, name: str, value: Any) -> AgentTask:
    """Give a gold argument another value, alone accepted."""
    old = site.call.arguments.get(name)
    given = {**site.call.arguments, name: any_of([value]) if is_any_of(old) else value}
    call = site.call.model_copy(update={"arguments": given})
    return with_gold(task, site.turn, site.index, [call])


def with_environment(task: AgentTask, **changes: Any) -> AgentTask:
    """Change the environment of this task alone."""
    environment: EnvironmentSpec = task.environment.model_copy(update=changes)
    return task.model_copy(update={"environment": environment})


def with_tool(task: AgentTask, tool: ToolSpec, **changes: Any) -> tuple[AgentTask, str]:
    """Change a tool of the agent; returns the task and the pointer to the tool."""
    index = [each.name for each in task.environment.tools].index(tool.name)
    tools = list(task.environment.tools)
    tools[index] = tool.model_copy(update=changes)
    return with_environment(task, tools=tuple(tools)), f"/environment/tools/{index}"


def with_parameter(task: AgentTask, tool: ToolSpec, name: str, schema: dict[str, Any]) -> tuple[AgentTask, str]:
    """Give a parameter another schema; returns the task and the pointer to the schema."""
    properties = {**tool.parameters.get("properties", {}), name: schema}
    changed, pointer = with_tool(task, tool, parameters={**tool.parameters, "properties": properties})
    return changed, f"{pointer}/parameters/properties/{name}"


def last_request(task: AgentTask) -> tuple[str, str] | None:
    """Return pointer and text of what the user wants last, or of the simulator's instruction."""
    found = [(pointer, text) for pointer, text in task.user_texts() if not pointer.startswith(_CONTEXT)]
    said = [item for item in found if item[0] == "/user/instruction" or _is_of_user(task, item[0])]
    return said[-1] if said else None


def _is_of_user(task: AgentTask, pointer: str) -> bool:
    _, _, _, turn, message, _ = pointer.split("/")
    return task.user.turns[int(turn)][int(message)].role == "user"


def with_text(task: AgentTask, pointer: str, text: str) -> AgentTask:
    """Put another text in the place of one of the user's, and wherever the task's metadata repeat that text."""
    old = resolve(task, pointer)
    task = task.model_copy(update={"metadata": _replaced(task.metadata, old, text)})
    if pointer == "/user/instruction":
        return task.model_copy(update={"user": task.user.model_copy(update={"instruction": text})})
    if pointer.startswith(_CONTEXT):
        context = {**task.user.context, pointer.removeprefix(_CONTEXT): text}
        return task.model_copy(update={"user": task.user.model_copy(update={"context": context})})
    _, _, _, turn, message, _ = pointer.split("/")
    turns = [list(each) for each in task.user.turns]
    turns[int(turn)][int(message)] = turns[int(turn)][int(message)].model_copy(update={"content": text})
    user = task.user.model_copy(update={"turns": tuple(tuple(each) for each in turns)})
    return task.model_copy(update={"user": user})


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, old, new) for item in value]
    return new if value == old else value


def peers(task: AgentTask, value: Any) -> list[str]:
    """List the other keys of the tables in which a value is a key, in the state of the task or the shared one."""
    if not isinstance(value, str):
        return []
    states = [state for state in (task.initial_state, task.environment.state) if isinstance(state, dict)]
    tables = [table for state in states for table in state.values() if isinstance(table, dict) and value in table]
    return sorted({key for table in tables for key in table if key != value})


def user_text(task: AgentTask) -> str:
    """Return all texts of the user."""
    return "\n".join(text for _, text in task.user_texts())


def contains_word(value: object, text: str) -> bool:
    """Tell whether a value is in a text as a word of its own, without regard to case."""
    word = re.escape(str(value))
    return re.search(rf"(?<![\w.-]){word}(?![\w-]|\.\w)", text, re.IGNORECASE) is not None


def known_text(task: AgentTask) -> str:
    """Return everything that is said, documented or stored: texts, policy, tools, states."""
    environment = task.environment
    tools = [[tool.description, tool.parameters] for tool in environment.tools]
    stored = canonical_json([tools, task.initial_state])
    return "\n".join((user_text(task), environment.policy, stored, _shared_state(environment)))


_states: dict[int, tuple[Any, str]] = {}


def _shared_state(environment: EnvironmentSpec) -> str:
    """Serialise the state that tasks share, once for all of them."""
    if environment.state is None:
        return ""
    key = id(environment.state)
    if key not in _states:
        _states[key] = environment.state, canonical_json(environment.state)
    return _states[key][1]
