"""The investigating judge's look-ups: each becomes a passage that its evidence may cite."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from agenthard.audit.execution.context import Execution, current_execution
from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.judge.context.fence import one_line
from agenthard.audit.judge.context.material import Material, Passage
from agenthard.audit.judge.investigation.calls import replay_gold, try_call, validate_call
from agenthard.audit.judge.investigation.lookups import look_up, read_passage
from agenthard.audit.judge.investigation.results import Found, InvalidLookupError, clip
from agenthard.audit.judge.investigation.search import search_policy, search_state
from agenthard.audit.judge.investigation.tools import (
    LOOK_UP,
    REPLAY_GOLD,
    SEARCH_POLICY,
    SEARCH_STATE,
    TRY_CALL,
    VALIDATE_CALL,
    read_arguments,
    tools_for,
)
from agenthard.models.request import Call, Tool
from agenthard.taxonomy.task import AgentTask

ALL_CHARACTERS = 60_000
"""Most characters that the look-ups of one conversation show together."""
_TITLE = 400

_DO: dict[str, Callable[..., Found]] = {
    LOOK_UP.name: look_up,
    SEARCH_STATE.name: search_state,
    SEARCH_POLICY.name: search_policy,
    REPLAY_GOLD.name: replay_gold,
    TRY_CALL.name: try_call,
    VALIDATE_CALL.name: validate_call,
}


class Investigator:
    """Looks things up about one task for one conversation. Nothing it does changes the task."""

    def __init__(self, task: AgentTask, material: Material, execution: Execution | None = None) -> None:
        """Begin a conversation.

        Args:
            task: What can be looked at: its texts, state, tools and ground truth, and its environment where there is
                one. Its metadata and origins cannot.
            material: What the judge is shown, best before anything was left out: passages that are not part of the
                record (replay, checks, runs) can be read by their labels.
            execution: Whose code executes the task; None: the active one.
        """
        self._task = task
        self._execution = execution or current_execution()
        self._labelled = {passage.label: passage for passage in material.passages if passage.pointer is None}
        self._passages: list[Passage] = []

    @cached_property
    def _tools(self) -> dict[str, Tool]:
        with self._execution.active():
            return {tool.name: tool for tool in tools_for(self._task)}

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools on offer: those that can find out anything about this task.

        The first time this replays the ground truth.
        """
        return tuple(self._tools.values())

    @property
    def lookups(self) -> tuple[Passage, ...]:
        """What was looked up so far, in order."""
        return tuple(self._passages)

    def look_up(self, call: Call) -> Passage:
        """Answer a call.

        Args:
            call: As the model wrote it: its tool may not exist, its arguments may be anything.

        Returns:
            What was found, or why nothing was, labelled ``lookup/1`` and so on. It never raises: whatever a model asks
            for is answered.
        """
        found = self._found(call)
        room = ALL_CHARACTERS - sum(len(passage.text) for passage in self._passages)
        if len(found.text) > room:
            told = "No room for more: all look-ups together have a limit. Answer from what you have."
            found = Found(found.part, f"{found.title}; not shown", told)
        passage = Passage(
            label=f"lookup/{len(self._passages) + 1}",
            part=found.part,
            title=clip(one_line(found.title), _TITLE),
            text=found.text,
            pointer=found.pointer,
        )
        self._passages.append(passage)
        return passage

    def _found(self, call: Call) -> Found:
        tool = self._tools.get(call.name)
        title = f"{call.name}({call.arguments})"
        if tool is None:
            told = f"No tool of this name here. There are {', '.join(self._tools)}."
            return Found("about", title, told)
        try:
            arguments: dict[str, Any] = read_arguments(call, tool)
            labelled = self._labelled.get(arguments.get("at", ""))
            if labelled is not None:
                return read_passage(labelled, arguments.get("offset", 0))
            with self._execution.active():
                return _DO[call.name](self._task, **arguments)
        except InvalidLookupError as error:
            return Found("about", title, f"Nothing was looked up: {error}.")
        except (ExecutionError, UnavailableError) as error:
            return Found("about", title, f"The environment failed: {error}. That says nothing about the task.")
        except (LookupError, ValueError, TypeError, RecursionError) as error:
            told = f"It cannot be read ({type(error).__name__}: {str(error)[:200]}); ask for something smaller."
            return Found("about", title, told)
