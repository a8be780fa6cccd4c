"""A bounded search over the tools of a task for calls that reach a wanted state.

What an agent can know is closed first: every read is made with values that the user says, the documentation gives or a
response hands out. Then calls that can change something are tried, one and two in a row. A search that finds nothing
proves nothing; it says what it tried.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

from agenthard.audit.detectors.support.reach import Known, is_read, options_of, parsed_response, scalars
from agenthard.audit.execution.environment import Environment, ExecutionError
from agenthard.audit.execution.gold import environment_of
from agenthard.audit.readings.records import shown_call
from agenthard.taxonomy.pointer import resolve, split
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

MOST_CALLS = 2_000
"""Sequences of calls that one search tries."""
_ROUNDS = 3
_READS = 300
_PER_TOOL = 60
_STATES = 20
"""States after one call from which a second call is tried."""

Goal = Sequence[tuple[str, Any]]
"""JSON Pointers into a state, with the values wanted there."""


class Plan(Record):
    """A search that ended."""

    calls: tuple[ToolCall, ...]
    """Calls that change the state and reach the goal; empty where none were found."""
    reads: int
    """Calls that were made to find out values."""
    tried: int
    """Sequences of calls that were tried."""
    tools: tuple[str, ...]
    """Tools that can change something, by name."""
    values: int
    """Values that were known."""
    complete: bool
    """Whether all sequences of at most two calls with known values were tried."""
    met: bool = False
    """Whether the start state has it already."""

    @property
    def said(self) -> str:
        """What was searched, and what came of it."""
        if self.met:
            return "the start state has the wanted values already"
        scope = "all sequences" if self.complete else f"the first {self.tried:,} sequences"
        where = f"{scope} of one and two calls of {', '.join(self.tools) or 'no tool'} with {self.values} known values"
        if self.calls:
            return f"a search over {where} reaches it: {'; '.join(map(shown_call, self.calls))}"
        return f"a search does not reach it: {where} were tried after {self.reads} reads"


def plan(task: AgentTask, goal: Goal) -> Plan:
    """Search for calls of the agent that reach a goal from the start state of a task.

    Args:
        task: the task.
        goal: places in the state with the values wanted there; at least one.

    Raises:
        UnavailableError: the task cannot be executed here.
        ExecutionError: the environment broke.
    """
    environment = environment_of(task)
    environment.reset(task)
    if _holds(environment, task, goal):
        return Plan(calls=(), reads=0, tried=0, tools=(), values=0, complete=True, met=True)
    known = dict.fromkeys(_wanted(goal))
    reads = _close(environment, task, known)
    writes = [tool for tool in task.environment.tools if not is_read(tool)]
    calls, whole = _candidates(task, writes, tuple(known), goal)
    found, tried, all_tried = _search(environment, task, goal, calls)
    return Plan(
        calls=found,
        reads=reads,
        tried=tried,
        tools=tuple(tool.name for tool in writes),
        values=len(known),
        complete=whole and all_tried,
    )


def _wanted(goal: Goal) -> Iterator[Known]:
    for pointer, value in goal:
        parts = split(pointer)
        yield from ((parts[i - 1] if i else "", part) for i, part in enumerate(parts))
        yield from scalars(value, parts[-1] if parts else "")


def _close(environment: Environment, task: AgentTask, known: dict[Known, None]) -> int:
    """Add everything that reads hand out to what is known; return how many reads were made."""
    reads, made = [tool for tool in task.environment.tools if is_read(tool)], set[str]()
    for _ in range(_ROUNDS):
        number = len(known)
        for call in _candidates(task, reads, tuple(known), ())[0]:
            key = shown_call(call)
            if key in made or len(made) >= _READS:
                continue
            made.add(key)
            response = environment.call(call)
            if response.error is None:
                known |= dict.fromkeys(scalars(parsed_response(response.text)))
        if len(known) == number:
            break
    return len(made)


def _candidates(
    task: AgentTask, tools: Sequence[ToolSpec], known: Sequence[Known], goal: Goal
) -> tuple[list[ToolCall], bool]:
    """List calls of some tools with known values, and tell whether these are all combinations."""
    calls, whole = [], True
    for tool in tools:
        options, _ = options_of(task, tool, known)
        for name, value in _optional(tool, goal):
            options[name] = [value]
        combined = list(islice(product(*options.values()), _PER_TOOL + 1))
        whole = whole and len(combined) <= _PER_TOOL
        calls += [
            ToolCall(name=tool.name, arguments=dict(zip(options, values, strict=True)))
            for values in combined[:_PER_TOOL]
        ]
    return calls, whole


def _optional(tool: ToolSpec, goal: Goal) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that are called as a wanted field is, with its value."""
    properties = tool.parameters.get("properties") or {}
    for pointer, value in goal:
        name = split(pointer)[-1] if pointer else ""
        if name in properties:
            yield name, value


def _search(
    environment: Environment, task: AgentTask, goal: Goal, calls: Sequence[ToolCall]
) -> tuple[tuple[ToolCall, ...], int, bool]:
    environment.reset(task)
    start = environment.state_hash()
    states: dict[str, ToolCall] = {}
    tried = 0
    for call in calls:
        if tried >= MOST_CALLS:
            return (), tried, False
        tried += 1
        if not _made(environment, task, (call,)):
            continue
        here = environment.state_hash()
        if here != start and here not in states:
            if _holds(environment, task, goal):
                return (call,), tried, True
            states[here] = call
    for first in list(states.values())[:_STATES]:
        for second in calls:
            if tried >= MOST_CALLS:
                return (), tried, False
            tried += 1
            if _made(environment, task, (first, second)) and _holds(environment, task, goal):
                return (first, second), tried, True
    return (), tried, len(states) <= _STATES


def _made(environment: Environment, task: AgentTask, calls: Sequence[ToolCall]) -> bool:
    """Make calls from the start state; False where the environment breaks on one, which is then no way to go."""
    try:
        environment.reset(task)
        for call in calls:
            environment.call(call)
    except ExecutionError:
        return False
    return True


def _holds(environment: Environment, task: AgentTask, goal: Goal) -> bool:
    state = environment.snapshot()
    return all(_canonical(_at(state, task, pointer)) == _canonical(value) for pointer, value in goal)


def _at(state: Any, task: AgentTask, pointer: str) -> Any:
    for root in (state, task.environment.state):
        try:
            return resolve(root, pointer)
        except LookupError:
            continue
    return None


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
