"""τ-bench and τ²-bench, airline and retail, as environments with our own tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    ToolResponse,
    UnavailableError,
    Verdict,
)
from agenthard.audit.execution.tau.airline import AirlineTools
from agenthard.audit.execution.tau.evaluator import StateReplay, attempt_of, is_complete, judge, replay
from agenthard.audit.execution.tau.retail import RetailTools
from agenthard.audit.execution.tau.state import State, Table
from agenthard.audit.execution.tau.tools import Release, Tools
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, Message, ToolCall

SINCE_0_1_3 = "get_item_details"
"""The tool that identifies a later release of τ²-bench's retail, whose files state no version."""
OWN_CODE = "the benchmark's own code executes it: give its repository with --checkout PATH"
"""Advice for tasks that our own tools cannot execute."""
DOMAINS: dict[str, tuple[type[Tools], frozenset[str]]] = {
    "airline": (AirlineTools, frozenset({"flights", "reservations", "users"})),
    "retail": (RetailTools, frozenset({"orders", "products", "users"})),
}
"""Tools and tables of a database, by domain."""


class TauEnvironment(Environment):
    """Base of both benchmarks; all tasks of a domain share one database."""

    reads_runs = True
    release: ClassVar[Release]
    """Release whose conventions apply."""
    written_after: ClassVar[str]
    """Release that the tools behave like."""
    counts_text_beside_calls: ClassVar[bool]
    """Whether the evaluator also searches text next to a tool call for required texts."""

    def __init__(self) -> None:
        """Start without a task."""
        self._shared: EnvironmentSpec | None = None
        self._tools: Tools | None = None
        self._absent: frozenset[str] = frozenset()
        self._known: tuple[EnvironmentSpec, frozenset[str]] | None = None
        self._gold: tuple[AgentTask, Tools, StateReplay] | None = None
        """The task that was judged last, and its ground truth."""

    def version(self) -> str:
        """Return the release that the tools behave like."""
        return f"AgentHard's own tools, after {self.written_after}"

    def supports(self, task: AgentTask) -> str | None:
        """Return which part of a task is not implemented here, or None."""
        known = DOMAINS.get(_domain(task))
        if known is None:
            return f"the domain {task.subtask!r} has no tools of ours (there are {', '.join(DOMAINS)}); {OWN_CODE}"
        kind, tables = known
        state = task.environment.state
        if not isinstance(state, dict) or not tables <= state.keys():
            return f"the database lacks a table; {task.subtask} needs {', '.join(sorted(tables))}"
        if task.initial_state:
            return f"the task starts from a state of its own; {OWN_CODE}"
        called = {call.name for _, call in task.gold_calls() if call.requestor == "assistant"}
        lacking = sorted(called & self._lacking(task))
        if not lacking:
            return None
        return f"the ground truth calls tools that are not implemented here: {', '.join(lacking)}; {OWN_CODE}"

    def reset(self, task: AgentTask) -> None:
        """Go to the database as it is before the task."""
        if self._tools is None or task.environment is not self._shared:
            self._tools, self._shared, self._absent = self._over(task), task.environment, self._lacking(task)
        self._tools.state.reset()

    def call(self, call: ToolCall) -> ToolResponse:
        """Carry out one call of the agent; the users of these domains have no tools.

        Raises:
            ExecutionError: the benchmark offers the tool and it is not implemented here.
        """
        _refuse([call], self._absent)
        if call.requestor == "user":
            return ToolResponse(text=f"Error: Tool '{call.name}' not found.", error="the user has no tools here")
        return self._running().invoke(call.name, call.arguments)

    def snapshot(self) -> Any:
        """Return the records that differ from the database, by table and id."""
        return self._running().state.changes()

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Compare final states and look for the required texts; the current run is not disturbed."""
        _refuse((call for turn in attempt.turns for call in turn), self._lacking(task))
        if self._gold is None or self._gold[0] is not task:
            tools = self._over(task)
            self._gold = task, tools, replay(tools, [call for _, call in task.gold_calls()])
        return judge(task, attempt, *self._gold[1:])

    def attempt_of(self, messages: Sequence[Message]) -> Attempt | None:
        """Return what the agent of a recorded conversation did and said; None when it was cut off."""
        if not self.closed(messages):
            return None
        return attempt_of(messages, beside_calls=self.counts_text_beside_calls)

    def closed(self, messages: Sequence[Message]) -> bool:
        """Tell whether a recorded conversation is complete; one that was cut off at a limit has score 0 in any case."""
        return True

    def _lacking(self, task: AgentTask) -> frozenset[str]:
        """Name the tools that the benchmark offers for a task and that are not implemented here."""
        if self._known is None or self._known[0] is not task.environment:
            self._known = task.environment, self._built(task, {}).lacks(task.environment.tools)
        return self._known[1]

    def _over(self, task: AgentTask) -> Tools:
        """Build the tools of a task's domain over its database."""
        problem = self.supports(task)
        if problem is not None:
            raise UnavailableError(f"{task.id}: {problem}")
        return self._built(task, task.environment.state)

    def _built(self, task: AgentTask, tables: Mapping[str, Table]) -> Tools:
        kind, _ = DOMAINS[_domain(task)]
        later = any(tool.name == SINCE_0_1_3 for tool in task.environment.tools)
        return kind(State(tables), self.release, later=later)

    def _running(self) -> Tools:
        if self._tools is None:
            raise UnavailableError("no task was started: call reset first")
        return self._tools


class TauBenchEnvironment(TauEnvironment):
    """τ-bench."""

    name = "τ-bench, own implementation"
    release = Release.TAU
    written_after = "τ-bench 59a200c"
    counts_text_beside_calls = False

    def closed(self, messages: Sequence[Message]) -> bool:
        """Decide by the last message, because the logs do not say how a run ended."""
        return is_complete(messages, "###STOP###", "transfer_to_human_agents")


class Tau2Environment(TauEnvironment):
    """τ²-bench."""

    name = "τ²-bench, own implementation"
    release = Release.TAU2
    written_after = "τ²-bench v0.1.3 and v1.0.1"
    counts_text_beside_calls = True


def _refuse(calls: Iterable[ToolCall], lacking: frozenset[str]) -> None:
    """Raise for calls of tools that are not implemented here; answering that the tool does not exist would be wrong."""
    for call in calls:
        if call.name in lacking and call.requestor == "assistant":
            raise ExecutionError(f"the tool {call.name} is not implemented here; {OWN_CODE}")


def _domain(task: AgentTask) -> str:
    """Return the domain without its split (retail-dev)."""
    return task.subtask.partition("-")[0]
