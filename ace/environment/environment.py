"""One episode of ACE-Bench: an agent fills the grid by calling tools."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from agenthard.ace import domains
from agenthard.ace.environment.arguments import RefusedCallError
from agenthard.ace.environment.budgets import Budgets
from agenthard.ace.environment.mode import Mode
from agenthard.ace.environment.playable import require_playable
from agenthard.ace.environment.result import Result
from agenthard.ace.environment.toolbox import Data, Toolbox
from agenthard.ace.environment.tools import Kind, Tool, declare
from agenthard.ace.instance import Grid, Puzzle
from agenthard.play.ending import Ending
from agenthard.play.failures import Failures
from agenthard.taxonomy.errors import AgentHardError

ToolAnswer = dict[str, Any]
"""``{"status": "success" or "failed", "messages": text, "data": {...}}``, as the released code answers."""

_SUCCESS = "Successfully executed tool"
_STOP = "###STOP###"


class _MalformedCallError(AgentHardError):
    """A call that reaches no tool, because its arguments are not what a call needs."""


class Environment:
    """The environment of one episode. It sees the public part of an instance only, so that nothing can leak the rest.

    State belongs to the episode: any number of episodes may run side by side, each in one thread at a time.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        *,
        mode: Mode | str = Mode.PAPER,
        budgets: Budgets | None = None,
        failure_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        """Starts an episode.

        Args:
            puzzle: The instance to play: ``instance.puzzle``.
            mode: How the tools behave, also by name.
            budgets: How often the agent may ask; None means the paper's budgets, ``Budgets()``.
            failure_rate: Probability, 0 to 1, that a call fails for no reason of the agent's.
            seed: Seed of the trial; it decides which calls fail.

        Raises:
            Unplayable: The instance contradicts itself or its domain.
            ValueError: The failure rate is not a probability, or no such domain or mode exists.
        """
        self.puzzle = puzzle
        self.domain = domains.load(puzzle.domain)
        require_playable(puzzle, self.domain)
        self.mode = Mode(mode)
        self.budgets = budgets or Budgets()
        self.finished = False
        """True once the agent has called `done`."""
        self._toolbox = Toolbox(puzzle, self.domain, self.mode, self.budgets)
        self._failures = Failures(failure_rate, seed, puzzle.id)
        handlers = {**self._toolbox.handlers(), Kind.DONE: self._finish}
        self._handlers: dict[str, Callable[[Mapping[str, Any]], Data]] = {
            kind.of(puzzle.domain): handler for kind, handler in handlers.items()
        }
        self._required = _required_arguments(puzzle.domain)
        self._calls = self._malformed = self._failed = 0

    @property
    def grid(self) -> Grid:
        """The current grid."""
        return self._toolbox.board.grid

    def tools(self, shuffle: int | None = None) -> tuple[Tool, ...]:
        """Returns the tools that can be called.

        Args:
            shuffle: Seed by which to shuffle them; None keeps the order of the declaration.

        Returns:
            The tools.
        """
        return declare(self.domain, shuffle=shuffle)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolAnswer:
        """Carries out one tool call.

        Args:
            name: Name of the tool.
            arguments: Its arguments; those it does not know are ignored.

        Returns:
            The answer. Nothing an agent sends raises an error.
        """
        try:
            return self._carry_out(name, arguments or {})
        except _MalformedCallError as error:
            return _failed(str(error))

    def message(self, name: str, arguments: str) -> str:
        """Carries out one tool call as a model wrote it, and answers in text.

        Args:
            name: Name of the tool.
            arguments: JSON text of its arguments; empty for none.

        Returns:
            The answer as JSON; in reference mode a call that reaches no tool is answered in plain text.
        """
        try:
            answer = self._carry_out(name, self._parsed(arguments))
        except _MalformedCallError as error:
            if self.mode is Mode.REFERENCE:
                return str(error)
            answer = _failed(str(error))
        return as_text(answer)

    def result(self, ending: Ending = Ending.OPEN) -> Result:
        """Returns what the episode has come to.

        Args:
            ending: How it ended, where the agent did not call `done`.

        Returns:
            The result; its score is about the current grid, whatever the ending.
        """
        return Result(
            instance=self.puzzle.id,
            solved=self._toolbox.board.solved(),
            ending=Ending.DONE if self.finished else ending,
            grid=self.grid,
            calls=self._calls,
            malformed=self._malformed,
            failures=self._failed,
            queries=self._toolbox.queries.total(),
            global_checks=self._toolbox.global_checks,
        )

    def _carry_out(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        if self.finished and self.mode is Mode.PAPER:
            return _failed("The episode is over")
        handler = self._handlers.get(name)
        if handler is not None:
            self._require(name, arguments)
        number = self._calls
        self._calls += 1
        if self._failures.hit(number):
            self._failed += 1
            return _failed("Tool call failed")
        if handler is None:
            foreign = _is_foreign(name, self.puzzle.domain)
            return _failed("This tool is from other domain, not this domain" if foreign else "Unknown tool")
        try:
            data = handler(arguments)
        except RefusedCallError as reason:
            return _failed(f"Invalid tool arguments, {reason}")
        return {"status": "success", "messages": _SUCCESS if name != Kind.DONE else _STOP, "data": data}

    def _finish(self, arguments: Mapping[str, Any]) -> Data:
        self.finished = True
        return {}

    def _require(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Refuses a call that lacks an argument, in the words of Python, which the released code passes on."""
        missing = [f"'{wanted}'" for wanted in self._required[name] if wanted not in arguments]
        if missing:
            self._malformed += 1
            lack = f"{len(missing)} required positional argument{'s' * (len(missing) > 1)}: {_listed(missing)}"
            raise _MalformedCallError(f"Tool call failed (invalid arguments): {name}() missing {lack}")

    def _parsed(self, arguments: str) -> Mapping[str, Any]:
        try:
            parsed = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            self._malformed += 1
            raise _MalformedCallError(f"Tool arguments parse failed (possibly truncated), skipping: {error}") from None
        if not isinstance(parsed, dict):
            self._malformed += 1
            raise _MalformedCallError("Tool call failed (invalid arguments): arguments must be a JSON object")
        return parsed


def as_text(answer: ToolAnswer) -> str:
    """Writes an answer as a model gets to read it.

    Args:
        answer: The answer to a call.

    Returns:
        JSON text. Half a surrogate pair, which an agent may have sent and no channel can carry, is escaped.
    """
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def _required_arguments(domain: str) -> dict[str, tuple[str, ...]]:
    tools = declare(domains.load(domain))
    return {tool.name: tuple(p.name for p in tool.parameters if p.required) for tool in tools}


def _is_foreign(name: str, domain: str) -> bool:
    """Tells whether another domain has a tool of this name, and the domain itself has none."""
    return any(name == kind.of(other) for other in domains.names() if other != domain for kind in Kind)


def _listed(words: list[str]) -> str:
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])}, and {words[-1]}"


def _failed(message: str) -> ToolAnswer:
    return {"status": "failed", "messages": message, "data": {}}
