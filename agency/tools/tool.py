"""What a tool is, and what a call of one gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from agenthard.agency.workspace import Difference, Workspace
from agenthard.containment.command import PLACE
from agenthard.models.request import Tool
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record

Group = Literal["files", "shell", "memory", "web", "todo"]
Trouble = Literal["refused", "failed", "killed", "unavailable", "interrupted"]


class ToolRefusal(AgentHardError):  # noqa: N818 - an answer to the agent, not a failure of ours
    """A call asks for something that is not there or not allowed; the agent is told."""

    code = "AH644"
    remedy = "Nothing: the agent reads the message and may call again."


class CallResult(Record):
    """What one call gave, complete: no reader has to guess anything from its text."""

    output: str
    """What the agent reads."""
    trouble: Trouble | None = None
    """What went wrong: the call was refused, it failed, a limit killed it, no such service, or it was cut off
    by a kill of the harness; None when nothing did."""
    exit_code: int | None = None
    """Exit code of a command; None where there is none."""
    seconds: float = 0.0
    """How long it took."""
    changed: Difference = Difference()
    """Files that it changed."""
    snapshot: str = ""
    """Id of the snapshot of the workspace after it; empty where the call cannot change the workspace."""


@dataclass
class Notes:
    """What an agent has written down outside the workspace. It lasts as long as the scenario."""

    facts: list[str] = field(default_factory=list)
    """Saved facts."""
    bank: dict[str, str] | None = None
    """Sections of the memory bank; None before it is initialised."""
    todos: list[dict[str, str]] = field(default_factory=list)
    """The list of things to do."""


@dataclass
class Desk:
    """What tools work with."""

    workspace: Workspace
    """The folder of the agent."""
    notes: Notes = field(default_factory=Notes)
    """What the agent has written down."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Recorded answers of web tools, by call (:func:`agenthard.agency.tools.web.key_of`)."""
    seconds: float | None = None
    """How long a command may take at most now; None for the limit of every command."""


class Output(NamedTuple):
    """What a tool says."""

    text: str
    """The text for the agent."""
    trouble: Trouble | None = None
    """What went wrong."""
    exit_code: int | None = None
    """Exit code of a command."""
    changed: Difference = Difference()
    """Files that changed."""


class ToolFunction(NamedTuple):
    """A tool with what carries it out."""

    tool: Tool
    """Name, description and parameters."""
    group: Group
    """The group it is counted under."""
    run: Callable[[Desk, dict[str, Any]], Output]
    """Carries out a call with valid arguments. It raises ToolRefusal and OSError."""
    changes: bool = False
    """Whether it can change the workspace."""


def tool(name: str, about: str, required: tuple[str, ...] = (), /, **properties: Any) -> Tool:
    """Describe a tool; of its parameters those in ``required`` have to be given."""
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return Tool(name=name, description=about, parameters=schema)


def text(description: str) -> dict[str, str]:
    """Describe a parameter that is a text."""
    return {"type": "string", "description": description}


def path_below(path: str) -> str:
    """Return a path relative to the workspace.

    >>> path_below("/tmp/workspace/src/a.py"), path_below("./src//a.py"), path_below(".")
    ('src/a.py', 'src/a.py', '')

    Raises:
        ToolRefusal: it leads out of the workspace.
    """
    if path == PLACE or path.startswith(f"{PLACE}/"):
        path = path[len(PLACE) :].lstrip("/")
    if path.startswith("/") or "\0" in path:
        raise ToolRefusal(f"{path!r} is outside the workspace {PLACE}")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ToolRefusal(f"{path!r} leads out of the workspace; write a path without '..'")
    return "/".join(parts)
