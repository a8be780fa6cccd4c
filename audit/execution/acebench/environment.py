"""ACEBench's own checker and classes, from a checkout, behind the interface of environments."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agenthard.audit.execution.acebench import questions
from agenthard.audit.execution.checkout import code_version, definitions, interpreter
from agenthard.audit.execution.environment import (
    Attempt,
    Environment,
    ExecutionError,
    Observation,
    UnavailableError,
    Verdict,
)
from agenthard.audit.execution.workers import WorkerPool, WorkerSession, why_not_contained
from agenthard.taxonomy.task import AgentTask, ToolCall

SCRIPT = Path(__file__).with_name("script.py")
CHECKER = "normal_checker"
CHECKER_FILES = ("model_eval/checker.py", "eval/checker.py", "checker.py")
"""Where the checker is looked for first, relative to the checkout."""
OTHER_LANGUAGE = "zh"
"""Part of the paths of the Chinese twins of files; they come last."""


@cache
def _found(checkout: Path) -> dict[str, Path]:
    """Return the file of each function and class of a checkout, by name."""
    found: dict[str, Path] = {}

    def rank(item: tuple[str, Path]) -> tuple[bool, bool, str]:
        name, path = item[0], item[1].relative_to(checkout).as_posix()
        return (name == CHECKER and path not in CHECKER_FILES, OTHER_LANGUAGE in path, path)

    for name, path in sorted(definitions(checkout), key=rank):
        found.setdefault(name, path)
    return found


@cache
def _pool(checkout: Path, files: tuple[tuple[str, Path], ...]) -> WorkerPool:
    listed = json.dumps({name: str(path) for name, path in files})
    return WorkerPool(interpreter(checkout), SCRIPT, arguments=(str(checkout), listed))


class AceBenchEnvironment(Environment):
    """Normal tasks before the checkout's ``normal_checker``; agent tasks on its classes, compared by their states.

    The classes are those that a task names in ``involved_classes``. A method that several of them have by inheritance,
    such as switching the network on, is called on each; the first response counts.
    """

    name = "ACEBench checkout"

    def __init__(self, checkout: Path | None = None) -> None:
        """Prepare; nothing is started yet.

        Args:
            checkout: folder of ACEBench's code; without one nothing can be executed.
        """
        self._checkout = checkout
        self._session = WorkerSession()

    def version(self) -> str:
        """Say which code runs: a hash of the checkout's Python files."""
        return code_version(self._checkout) if self._checkout else "none"

    def supports(self, task: AgentTask) -> str | None:
        """Say why a task cannot be executed; None when it can."""
        if self._checkout is None:
            return "ACEBench's code is not part of AgentHard: give --checkout PATH, a folder with ACEBench's repository"
        if "expects_no_call" in task.traits:
            return "the special categories are judged by what the agent says; the checker takes calls"
        missing = [name for name in questions.needed(task, CHECKER) if name not in _found(self._checkout)]
        if missing:
            return f"{self._checkout} defines no {', '.join(missing)}; give a folder with ACEBench's repository"
        return why_not_contained()

    def reset(self, task: AgentTask) -> None:
        """Build the involved classes with the task's initial configuration.

        Raises:
            UnavailableError: the task is no agent task: its functions are documented but do not exist.
            ExecutionError: the classes refuse the configuration.
        """
        self._open(task)
        if task.ground_truth.call_matching != "state":
            raise UnavailableError("a normal task has no environment: its functions exist as documentation only")
        self._session.reset({"do": "reset", "session": questions.session(task)})

    def call(self, call: ToolCall) -> Observation:
        """Carry out one call; an exception, and a response that says ``"status": false``, are errors."""
        answer = self._session.ask({"do": "call", "call": questions.call(call)})
        return Observation(text=answer["text"], error=answer["error"])

    def snapshot(self) -> Any:
        """Return the public attributes of each class."""
        return self._session.ask({"do": "snapshot"})

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        """Let the checker judge a normal attempt; compare the states that an agent attempt leaves."""
        [verdict] = self.evaluate_many(task, [attempt])
        if isinstance(verdict, ExecutionError):
            raise verdict
        return verdict

    def evaluate_many(self, task: AgentTask, attempts: Sequence[Attempt]) -> list[Verdict | ExecutionError]:
        """Judge many attempts at one task in one round trip; one that breaks the checker costs only its own verdict.

        Raises:
            UnavailableError: the task is not supported.
        """
        self._open(task)
        tries = [[questions.call(call) for turn in attempt.turns for call in turn] for attempt in attempts]
        answers = self._session.judge({"do": "judge", "task": questions.question(task)}, tries)
        return [a if isinstance(a, ExecutionError) else Verdict.model_validate(a) for a in answers]

    def close(self) -> None:
        """Give the worker back."""
        self._session.close()

    def _open(self, task: AgentTask) -> None:
        reason = self.supports(task)
        if reason or self._checkout is None:
            raise UnavailableError(reason)
        found = _found(self._checkout)
        names = {CHECKER, *questions.CLASSES} & found.keys()
        self._session.open(task, _pool(self._checkout, tuple((name, found[name]) for name in sorted(names))))
