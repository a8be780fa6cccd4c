"""The one interface to every benchmark's environment and evaluator.

A maintainer wires a benchmark by subclassing ``Environment`` and registering the class under the entry-point group
``agenthard.environments``, by the name of the benchmark (``AgentTask.benchmark``).
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, Message, ToolCall


class UnavailableError(AgentHardError):
    """A task cannot be executed here: something is not installed or not supported. The message says what to do."""

    code = "AH301"
    remedy = (
        "Do what the message says: install the environment, give `--checkout`, or run on a system that contains code."
    )


class ExecutionError(AgentHardError):
    """The environment failed, was stopped at a limit, or misbehaved. This is an error of the task, not a verdict."""

    code = "AH302"
    remedy = "Run the task alone with `agenthard replay` to see the cause; other tasks are not affected."


class ToolResponse(Record):
    """The response to a call."""

    text: str
    """The text that an agent sees."""
    error: str | None = None
    """Why the call failed; None when it succeeded."""


class Attempt(Record):
    """What an agent did and said, as far as evaluators look at it."""

    turns: tuple[tuple[ToolCall, ...], ...] = ()
    """Tool calls, turn by turn; a benchmark without turns has one entry."""
    replies: tuple[str, ...] = ()
    """What the agent said to the user, in order."""


class Trace(NamedTuple):
    """What calls did that were executed one after the other."""

    initial: str
    """Hash of the state before the first call."""
    steps: list[tuple[ToolResponse, str]]
    """For each call the response, and the hash of the state after it."""


class Verdict(Record):
    """The verdict of the benchmark's evaluator on an attempt."""

    passed: bool
    """Whether the task counts as solved."""
    parts: dict[str, bool] = Field(default_factory=dict)
    """The verdict on each part that the evaluator checks, by name (such as database, outputs)."""
    reason: str = ""
    """The evaluator's explanation, if it gives one."""


class Environment(ABC):
    """The environment of one task at a time, and its evaluator. One instance belongs to one thread."""

    name: ClassVar[str]
    """Name of the environment in findings and reports."""
    reads_runs: ClassVar[bool] = False
    """Whether it can replay and judge recorded conversations: ``attempt_of`` reads them, and the tools answer exactly
    as the benchmark's do."""
    inspect_task: ClassVar[str] = ""
    """The name under which Inspect has a task of this benchmark's own; empty where it has none."""

    @abstractmethod
    def version(self) -> str:
        """Return the version of the code that runs: a release or a content hash."""

    def label(self) -> str:
        """Return name and version, as findings and reports show them."""
        version = self.version()
        return version if version.startswith(self.name) else f"{self.name} {version}"

    @abstractmethod
    def supports(self, task: AgentTask) -> str | None:
        """Return why a task cannot be executed, or None."""

    @classmethod
    def why_not_published(cls, task: AgentTask) -> str | None:
        """Return why an attempt at a task of a published split cannot be scored; None when it can.

        A published split has the tasks and no code of the benchmark; override this where none is needed.
        """
        return "it is scored by the code of a checkout, which a published split does not have"

    def yields(self, task: AgentTask) -> bool:
        """Tell whether a task that it does not support may be executed by the built-in environment instead."""
        return False

    def reservation(self, task: AgentTask) -> str | None:
        """Return why the code may not be that of a task, so that executing it confirms nothing; None when it is."""
        return None

    @abstractmethod
    def reset(self, task: AgentTask) -> None:
        """Go to the initial state of a task.

        Raises:
            UnavailableError: it cannot be executed here.
            ExecutionError: the environment failed.
        """

    @abstractmethod
    def call(self, call: ToolCall) -> ToolResponse:
        """Execute one call. A mistake of the agent gives a response with an error, never an exception.

        Raises:
            ExecutionError: the environment broke, or was stopped at a limit.
        """

    @abstractmethod
    def snapshot(self) -> Any:
        """Return the state as JSON data; parts that never change may be left out. Equal states give equal snapshots.

        Raises:
            ExecutionError: the environment broke.
        """

    def trace(self, task: AgentTask, calls: Sequence[ToolCall]) -> Trace:
        """Execute calls from the initial state of a task, with a look at the state after each.

        Raises:
            UnavailableError: the task cannot be executed here.
            ExecutionError: the environment broke.
        """
        self.reset(task)
        return Trace(self.state_hash(), [(self.call(call), self.state_hash()) for call in calls])

    @abstractmethod
    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Judge an attempt with the benchmark's evaluator, from the initial state of the task.

        Raises:
            UnavailableError: the evaluator cannot be run here.
            ExecutionError: the evaluator broke.
        """

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionError]:
        """Judge many attempts at one task; an attempt that breaks the evaluator costs only its own verdict.

        Raises:
            UnavailableError: the evaluator cannot be run here.
        """
        found: list[Verdict | ExecutionError] = []
        for attempt in attempts:
            try:
                found.append(self.evaluate(task, attempt))
            except ExecutionError as error:
                found.append(error)
        return found

    def attempt_of(self, messages: Sequence[Message]) -> Attempt | None:
        """Return what the agent of a recorded conversation did and said, as the evaluator sees it.

        Returns:
            None for a conversation that was cut off, which the evaluator would not judge, and where the environment
            does not read conversations (``reads_runs``).
        """
        return None

    def state_hash(self) -> str:
        """Hash the snapshot."""
        return state_hash(self.snapshot())

    def close(self) -> None:  # noqa: B027 (most environments hold nothing)
        """Release processes and files."""


def state_hash(state: Any) -> str:
    """Hash a snapshot: SHA-256 of its canonical JSON, the first 16 hexadecimal digits."""
    text = json.dumps(state, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
