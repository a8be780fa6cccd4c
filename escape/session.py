"""An episode in a room as players see it, behind the interface of :mod:`agenthard.play.session`."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from agenthard.escape.environment import Environment
from agenthard.escape.environment.environment import as_text
from agenthard.models.request import Tool
from agenthard.play.ending import Ending
from agenthard.play.session import Outcome
from agenthard.taxonomy.task import Message

_NODE = {"type": "string", "description": "Id of the part, as it is shown"}
_PARAMS = {
    "type": "object",
    "description": "Values by name of the parameter; whole numbers as text in decimal digits",
    "additionalProperties": {"type": "string"},
}


def _tool(name: str, description: str, **properties: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tool(name=name, description=description, parameters=schema)


TOOLS = (
    _tool("investigate", "Look at a part: what it does, what it needs, and what is written on it.", node_id=_NODE),
    _tool("use_tool", "Use a tool or an exit with values for its parameters.", node_id=_NODE, params=_PARAMS),
    _tool("use_item", "Open a lock or a container with values for its parameters.", node_id=_NODE, params=_PARAMS),
    _tool(
        "submit_answer",
        "Submit the answer that the exit gives.",
        answer={"type": "string", "description": "The answer"},
    ),
    _tool("give_up", "End the episode without an answer.", reason={"type": "string", "description": "Why"}),
)
"""The five calls."""

SYSTEM = """\
You are in an escape room. Parts of the room need values, and give values that other parts need. Some parts come into
sight only when something else is opened. Find out what each part needs, use the parts, and use the exit at the end:
it gives the answer, which begins with ESC-. Submit that answer.

- `investigate` tells what a part does, its parameters, and hints: each parameter belongs with a sign. The value is
  written next to this sign, or the part that bears the sign gives it.
- Not every value that is written somewhere is needed.
- `use_tool` and `use_item` work only with the right values. All values are text, whole numbers too.
- Values in texts stand between « and »; give them without these marks.
- You may make several calls in one turn{per_turn}. {budget}"""


class EscapeSession:
    """One episode."""

    cut_off = "Your reply was cut off at the length limit, and its calls were not carried out. Reply more briefly."
    go_on = "Please go on with a call. When you have the answer, call `submit_answer`."

    def __init__(self, environment: Environment, id: str, theme: str) -> None:
        """Wrap a fresh environment."""
        self._environment = environment
        self._story = environment.story
        self.id = id
        self.title = f"AgentEscapeBench: a {theme} room"

    @property
    def finished(self) -> bool:
        """Whether the episode is over."""
        return self._environment.finished

    def messages(self) -> Sequence[Message]:
        """Return the rules, and the story with what is in sight."""
        conditions, budget = self._environment.conditions, self._environment.budget
        limit = "You have any number of turns." if budget is None else f"You have {budget} turns."
        system = SYSTEM.format(per_turn=f", up to {conditions.calls_per_turn}", budget=limit)
        start = json.dumps(self._environment.start(), ensure_ascii=False, indent=1)
        return [Message(role="system", content=system), Message(role="user", content=f"{self._story}\n\n{start}")]

    def tools(self, shuffle: int | None = None) -> Sequence[Tool]:
        """Return the five calls."""
        return list(TOOLS) if shuffle is None else Random(shuffle).sample(TOOLS, len(TOOLS))

    def schemas(self, shuffle: int | None = None) -> Sequence[Tool]:
        """Return the five calls."""
        return self.tools(shuffle)

    def begin_turn(self) -> None:
        """Begin a turn."""
        self._environment.begin_turn()

    def message(self, name: str, arguments: str) -> str:
        """Carry out a call as a model wrote it."""
        return self._environment.message(name, arguments)

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> tuple[str, bool]:
        """Carry out a call; return the answer and whether it was refused."""
        answer = self._environment.call(name, dict(arguments or {}))
        return as_text(answer), not answer["ok"]

    def changes_answers(self, name: str) -> bool:
        """Every call counts, so none is answered for another."""
        return True

    def result(self, ending: Ending = Ending.OPEN) -> Outcome:
        """Return what the episode has come to."""
        ended, counts = self._environment.outcome(ending)
        solved = self._environment.solved
        details = {"room": self.id, "solved": solved, "ending": ended.value, **counts}
        return Outcome(solved=solved, ending=ended, counts=counts, details=details)
