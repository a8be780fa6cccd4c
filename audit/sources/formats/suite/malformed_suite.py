"""What goes wrong with the records of a suite."""

from dataclasses import dataclass

from agenthard.taxonomy.errors import AgentHardError


class MalformedInstanceError(AgentHardError, ValueError):
    """Text that is not in the layout it should be in; the message says where and what is wrong."""

    code = "AH610"
    remedy = "Correct the file at the place that the message names, or generate it again."


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An instance that could not be read."""

    index: int
    """Its position in the file's list, from 0."""
    id: str | None
    """Its id, where it has one."""
    reason: str
    """Where it departs from the layout, and how."""
    part: str = ""
    """In a format that spreads an instance over several files, the one it is about, such as "answers"."""
