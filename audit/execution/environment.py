"""The one interface to every benchmark's environment and evaluator.

A maintainer wires a benchmark by subclassing ``Environment`` and registering the class under the entry-point group
``agenthard.environments``, by the name of the benchmark (``AgentTask.benchmark``).
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

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
    """The environment itself broke, was stopped at a limit, or misbehaved: an error of this task, and no verdict."""

    code = "AH302"
    remedy = "Run the task alone with `agenthard replay` to see the cause; other tasks are not affected."


class Observation(Record):
    """What a call led to."""

    text: str
    """The tool's response as an agent is shown it."""
    error: str | None = None
    """Why the call did not do what it asks; None when it did."""


class Attempt(Record):
    """What an agent did, as far as an evaluator looks at it."""

    turns: tuple[tuple[ToolCall, ...], ...] = ()
    """Tool calls, turn by turn; a benchmark without turns has one entry."""
    replies: tuple[str, ...] = ()
    """What the agent said to the user, in order."""


class Verdict(Record):
    """What the benchmark's evaluator says of an attempt."""

    passed: bool
    """Whether the task counts as solved."""
    parts: dict[str, bool] = Field(default_factory=dict)
    """The same for each thing the evaluator looks at, by its name (such as database, outputs)."""
    reason: str = ""
    """The evaluator's own words where it gives any."""


class Environment(ABC):
    """The environment of one task at a time, and its evaluator. One instance belongs to one thread."""

    name: ClassVar[str]
    """Name of what runs, as findings and reports show it."""
    reads_runs: ClassVar[bool] = False
    """Whether it can carry out and judge recorded conversations again: ``attempt_of`` reads them, and the tools answer
    as those of the benchmark, text for text."""

    @abstractmethod
    def version(self) -> str:
        """Say which code runs: release or content hash."""

    def label(self) -> str:
        """Name what runs together with its version, as findings and reports show both."""
        version = self.version()
        return version if version.startswith(self.name) else f"{self.name} {version}"

    @abstractmethod
    def supports(self, task: AgentTask) -> str | None:
        """Say why a task cannot be executed; None when it can."""

    @abstractmethod
    def reset(self, task: AgentTask) -> None:
        """Go to the initial state of a task.

        Raises:
            UnavailableError: it cannot be executed here.
            ExecutionError: the environment broke.
        """

    @abstractmethod
    def call(self, call: ToolCall) -> Observation:
        """Carry out one call. What an agent may get wrong is an observation with an error, never an exception.

        Raises:
            ExecutionError: the environment broke, or was stopped at a limit.
        """

    @abstractmethod
    def snapshot(self) -> Any:
        """Return the state as JSON data; what never changes may be left out, equal states give equal snapshots.

        Raises:
            ExecutionError: the environment broke.
        """

    @abstractmethod
    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Let the benchmark's evaluator judge an attempt, from the initial state of the task.

        Raises:
            UnavailableError: the evaluator cannot be run here.
            ExecutionError: the evaluator broke.
        """

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionError]:
        """Judge many attempts at one task; a broken one costs its own verdict only.

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
            None where the evaluator would not look at the conversation, since it was cut off, or where the environment
            reads none (``reads_runs``).
        """
        return None

    def state_hash(self) -> str:
        """Hash the snapshot: SHA-256 of its canonical JSON, the first 16 hexadecimal digits."""
        text = json.dumps(self.snapshot(), sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]

    def close(self) -> None:  # noqa: B027 (most environments hold nothing)
        """Give back what is held: processes, files."""
